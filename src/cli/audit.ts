import type { Writable } from "node:stream";
import { InvalidArgumentError, Option } from "commander";
import { type AuditFormat, auditFormats, auditText } from "../application/usage/audit-format.ts";
import type { Register } from "./command.ts";

interface AuditOptions {
  readonly key?: string;
  readonly from?: string;
  readonly to?: string;
  readonly after?: number;
  readonly format: AuditFormat;
}

/** Exit code 0 says that the replay went up to the end of the log, or that its reader had enough. */
export const registerAuditCommand: Register = (program, withServices) => {
  program
    .command("audit")
    .description("replay the ledger to standard output, up to its end as of now")
    .option("--key <apiKey>", "only what concerns this key")
    .option("--from <time>", "events of this date or time (UTC) or later")
    .option("--to <time>", "events before this date or time (UTC)")
    .option("--after <position>", "go on after the last entry one has", position)
    .addOption(
      new Option("--format <format>", "lines of JSON or CSV").choices(auditFormats).default("ndjson"),
    )
    .action(({ key, format, ...request }: AuditOptions) =>
      withServices(({ audit }) =>
        write(auditText(audit({ apiKey: key, ...request }), format), process.stdout),
      ),
    );
};

const position = (value: string): number => {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError("It must be the position of an entry.");
  return Number(value);
};

/** At the reader's pace. A reader that goes away (`| head`) ends it and is no failure. */
const write = async (text: AsyncIterable<string>, out: Writable): Promise<void> => {
  out.on("error", () => {}); // told by the write's own callback; without a listener it would end the process
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
