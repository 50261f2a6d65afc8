import type { Writable } from "node:stream";
import { InvalidArgumentError, Option } from "commander";
import { type AuditPlace, type AuditRequest, auditPlace } from "../../ledger/audit/audit.ts";
import { type AuditFormat, auditFormats, auditText } from "../../ledger/audit/audit-format.ts";
import { type Register, reading, type WithArchives, withArchives } from "../command.ts";

interface AuditOptions extends Omit<AuditRequest, "apiKey" | "signal">, WithArchives {
  readonly key?: string;
  readonly format: AuditFormat;
}

/** Exit code 0 means that the replay is complete, or that its reader closed the pipe. */
export const registerAuditCommand: Register = (program, { withServices }) => {
  withArchives(program.command("audit"))
    .description("replay the log to standard output, up to its current end")
    .option("--key <apiKey>", "only this key's events")
    .option("--stream <prefix>", "only streams whose names begin with this text")
    .option("--type <type>", "only entries of this type, such as SynthesisServed")
    .option("--request <id>", "only what was recorded for the request with this X-Request-Id")
    .option("--from <time>", "events of this date or time (UTC) or later")
    .option("--to <time>", "events before this date or time (UTC)")
    .option(
      "--after <position.index>",
      "continue after the position and index of the last entry received; without an index, after the whole event",
      place,
    )
    .addOption(
      new Option("--format <format>", "JSON lines, CSV, or CloudEvents of what is charged")
        .choices(auditFormats)
        .default("ndjson"),
    )
    .action(({ key, format, archive, ...request }: AuditOptions) =>
      withServices(
        ({ audit }) => write(auditText(audit({ apiKey: key, ...request }), format), process.stdout),
        reading({ archives: archive }),
      ),
    );
};

const place = (value: string): AuditPlace => {
  const { success, data, error } = auditPlace.safeParse(value);
  if (!success) throw new InvalidArgumentError(error.issues[0]?.message ?? "");
  return data;
};

/** Writes at the reader's pace. A closed pipe (`| head`) ends it without an error. */
const write = async (text: AsyncIterable<string>, out: Writable): Promise<void> => {
  out.on("error", () => {}); // reported by the write's callback; an error without a listener ends the process
  try {
    for await (const chunk of text) await written(out, chunk);
  } catch (error) {
    if (!isBrokenPipe(error)) throw error;
  }
};

const written = (out: Writable, chunk: string): Promise<void> =>
  new Promise((resolve, reject) => {
    out.write(chunk, (error) => (error ? reject(error) : resolve()));
  });

const isBrokenPipe = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EPIPE";
