import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ToolFailed } from "../tools.ts";
import { exitFailure, signalFailure } from "./exit-failure.ts";
import { createFrameReader, type Frame, frameKinds, type SpokenText } from "./frames.ts";
import { limitedCommand } from "./limited-command.ts";
import { lowerPriority } from "./lower-priority.ts";

/** A process with a speech library, for one text at a time. */
export interface SpeakerProcess<Order> {
  /** What the program reports about its library. @throws {ToolFailed} the library cannot be loaded */
  readonly ready: Promise<string>;
  /**
   * Speaks a text; one at a time. Yields a WAV. Unread output delays the process. @throws
   * {ToolFailed}
   */
  speak(order: Order): AsyncGenerator<Buffer, SpokenText>;
  kill(): void;
  /** Resolves when the process has exited. */
  readonly gone: Promise<void>;
}

export interface SpeakerOptions {
  /** In messages. */
  readonly name: string;
  /** The program, which reads orders and writes frames (speaker-program.ts), and its arguments. */
  readonly program: URL;
  readonly args?: readonly string[];
  /** Memory of the library, in addition to what Node reserves. */
  readonly memoryBytes: number;
  readonly lowPriority: boolean;
}

/** Node 24 reserves 570 MB that it does not use. */
const nodeBytes = 576 * 1024 * 1024;
const maxStderr = 4096;

export const startSpeaker = <Order>(options: SpeakerOptions): SpeakerProcess<Order> => {
  const { name, program, args = [], memoryBytes, lowPriority } = options;
  const flags = [
    "--max-semi-space-size=1",
    "--max-old-space-size=64",
    "--disable-warning=ExperimentalWarning",
  ];
  const limits = { dataBytes: nodeBytes + memoryBytes };
  const command = limitedCommand(process.execPath, [...flags, fileURLToPath(program), ...args], limits);
  const child = spawn(...command, { stdio: ["pipe", "pipe", "pipe"] });
  if (lowPriority) lowerPriority(child.pid);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (stderr.length < maxStderr) stderr += text;
  });
  child.stdin.on("error", () => undefined); // its exit reports the cause
  const exited = new Promise<ToolFailed>((resolve) => {
    child.once("error", () => resolve(new ToolFailed("missing", `${name} could not be started.`)));
    child.once("close", (_code, signal) =>
      resolve(signalFailure(name, signal ?? "") ?? exitFailure(name, stderr)),
    );
  });

  const frames = framesOf(child.stdout);
  const next = async (): Promise<Frame> => {
    const { value, done } = await frames.next();
    if (done) throw await exited;
    return value;
  };
  const ready = next().then(({ kind, content }) => {
    const report = JSON.parse(content.toString("utf8")) as string;
    if (kind === frameKinds.failed) throw exitFailure(name, report);
    return report;
  });
  ready.catch(() => undefined); // reported to those that await it

  return {
    ready,
    speak: async function* (order) {
      await ready;
      child.stdin.write(`${JSON.stringify(order)}\n`);
      for (;;) {
        const { kind, content } = await next();
        if (kind === frameKinds.wav) yield content;
        else if (kind === frameKinds.done) return JSON.parse(content.toString("utf8")) as SpokenText;
        else throw exitFailure(name, content.toString("utf8"));
      }
    },
    kill: () => void child.kill("SIGKILL"),
    gone: exited.then(() => undefined),
  };
};

async function* framesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Frame, void> {
  const read = createFrameReader();
  for await (const chunk of bytes) yield* read(chunk);
}
