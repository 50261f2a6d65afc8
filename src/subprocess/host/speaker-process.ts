import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { compileCache } from "../compile-cache.ts";
import { ToolFailed } from "../tools.ts";
import { exitFailure, exitOf } from "./exit-failure.ts";
import {
  cancelLine,
  createFrameReader,
  type Frame,
  frameKinds,
  requestLine,
  type SpokenText,
} from "./frames.ts";
import { limitedCommand } from "./limited-command.ts";
import { lowerPriority } from "./lower-priority.ts";

export type SpeakerProcess<Content> = ReturnType<typeof startSpeaker<Content>>;

export interface SpeakerOptions {
  /** The name of the process in messages. */
  readonly name: string;
  /**
   * The program, which reads requests and writes frames (speaker-program.ts). `args` are its
   * arguments.
   */
  readonly program: URL;
  readonly args?: readonly string[];
  /** The options of Node, and its environment. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The memory of the library, in addition to what Node reserves. */
  readonly memoryBytes: number;
  readonly lowPriority: boolean;
}

/** Node 24 reserves 570 MB that it does not use, and 23 MB for the thread that reads requests. */
const nodeBytes = 608 * 1024 * 1024;

/** A process with a speech library, for one text at a time. */
export const startSpeaker = <Content>(options: SpeakerOptions) => {
  const { name, program, args = [], memoryBytes, lowPriority } = options;
  const flags = [
    ...(options.flags ?? []),
    "--max-semi-space-size=1",
    "--max-old-space-size=64",
    "--disable-warning=ExperimentalWarning",
  ];
  const limits = { dataBytes: nodeBytes + memoryBytes };
  const command = limitedCommand(process.execPath, [...flags, fileURLToPath(program), ...args], limits);
  const env = { ...process.env, ...compileCache(), ...options.env };
  const child = spawn(...command, { env, stdio: ["pipe", "pipe", "pipe"] });
  if (lowPriority) lowerPriority(child.pid);
  child.stdin.on("error", () => undefined); // its exit reports the cause
  const exited = exitOf(name, child);

  const frames = framesOf(child.stdout);
  const next = async (): Promise<Frame> => {
    const { value, done } = await frames.next();
    if (done) throw (await exited).failure;
    return value;
  };
  const ready = next().then(({ kind, content }) => {
    const report = JSON.parse(content.toString("utf8")) as string;
    if (kind === frameKinds.failed) throw new ToolFailed("library", exitFailure(name, report).message);
    return report;
  });
  ready.catch(() => undefined); // reported to those that await it

  return {
    /**
     * Resolves with the program's report about its library.
     * @throws {ToolFailed} with the reason "library" if the program reports that the library cannot
     * be loaded; with another one if the process has not started, or has ended without a report
     */
    ready,
    /**
     * Speaks a text. Only one text may be in progress. Yields a WAV. Unread output delays the
     * process. An abort ends the output early, unless the program speaks a text in a single step.
     * @throws {ToolFailed}
     */
    speak: async function* (request: Content, signal: AbortSignal): AsyncGenerator<Buffer, SpokenText> {
      const cancel = (): void => void child.stdin.write(`${cancelLine}\n`);
      child.stdin.write(`${requestLine(request)}\n`);
      if (signal.aborted) cancel();
      signal.addEventListener("abort", cancel);
      try {
        await ready;
        for (;;) {
          const { kind, content } = await next();
          if (kind === frameKinds.wav) yield content;
          else if (kind === frameKinds.done) return JSON.parse(content.toString("utf8")) as SpokenText;
          else throw exitFailure(name, content.toString("utf8"));
        }
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
    kill: (): void => void child.kill("SIGKILL"),
    /** Resolves when the process has exited. */
    gone: exited.then(() => undefined),
  };
};

async function* framesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Frame, void> {
  const read = createFrameReader();
  for await (const chunk of bytes) yield* read(chunk);
}
