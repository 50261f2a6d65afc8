import { type ExecFileException, execFile } from "node:child_process";
import { startDeadlines } from "../start-deadlines.ts";
import { type Tool, ToolFailed, type ToolVersions } from "../tools.ts";

const questions: Readonly<Record<Tool, readonly [argument: string, pattern: RegExp]>> = {
  "espeak-ng": ["--version", /text-to-speech: (\S+)/],
  // flite reports its version and exits with 1.
  flite: ["--version", /version: flite-(\S+)/],
  ffmpeg: ["-version", /^ffmpeg version (\S+)/],
};

/**
 * Asks the tools for their versions. `known`: the versions that are known already.
 * @throws {ToolFailed} if the machine is too busy, so that it is unknown whether a tool is
 * installed
 */
export const detectVersions = async ({
  deadlineMs = startDeadlines.versionsMs,
  known = {},
}: {
  readonly deadlineMs?: number;
  readonly known?: ToolVersions;
} = {}): Promise<ToolVersions> => {
  const tools = Object.keys(questions) as Tool[];
  const outputs = await Promise.all(
    tools.map(async (tool) => [tool, known[tool] ?? (await askVersion(tool, deadlineMs))] as const),
  );
  return Object.fromEntries(outputs.filter(([, version]) => version !== undefined));
};

/** Resolves with undefined if the tool is not installed. */
const askVersion = (tool: Tool, deadlineMs: number): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const [argument, pattern] = questions[tool];
    execFile(tool, [argument], { timeout: deadlineMs, killSignal: "SIGKILL" }, (error, stdout) => {
      if (error && isBusy(error)) reject(unanswered(tool, deadlineMs));
      else resolve(pattern.exec(stdout)?.[1]);
    });
  });

/** True if the tool was killed, by its deadline or for lack of memory, or could not be started. */
const isBusy = ({ signal, code }: ExecFileException): boolean =>
  signal === "SIGKILL" || ["EAGAIN", "EMFILE", "ENFILE"].includes(String(code));

const unanswered = (tool: Tool, deadlineMs: number): ToolFailed =>
  new ToolFailed(
    "helper",
    `${tool} did not report its version within ${deadlineMs / 1000} s, or was killed: the machine is too busy.`,
  );
