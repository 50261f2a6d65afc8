import { Readable } from "node:stream";
import {
  type JobReport,
  type JobSpec,
  type Request,
  type SpokenPieceReport,
  type TextRequest,
  type TextResponse,
  windowBytes,
} from "./protocol.ts";
import { createWindow, inParts, type Window } from "./window.ts";

export type RemoteJob = ReturnType<typeof startRemoteJob>;

/** The service's side of a text. */
export interface TextListener {
  readonly provide: (request: TextRequest) => Promise<Omit<TextResponse, "number">>;
  readonly onSpoken: (report: SpokenPieceReport) => void;
  readonly onEncoding: (sampleRate: number) => void;
}

/** The service's side of a job. Only texts have no input. */
export const startRemoteJob = (
  job: number,
  spec: JobSpec,
  input: AsyncIterable<Buffer> | undefined,
  signal: AbortSignal,
  send: (request: Request) => void,
  listener?: TextListener,
) => {
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  const window = createWindow();
  // The stream is in object mode, which does not join chunks that wait.
  const output = new Readable({ objectMode: true, read: () => undefined });
  // Readers get the failure. Without a reader, the error must not be uncaught.
  output.on("error", () => undefined);
  let over = false;
  let reported: JobReport = {};

  const cancel = (failure: unknown) => {
    if (!over) send({ type: "abort", job });
    output.destroy(failure instanceof Error ? failure : new Error("abandoned"));
  };
  const onAbort = () => cancel(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });

  async function* read(): AsyncIterable<Buffer> {
    let unacknowledged = 0;
    try {
      for await (const bytes of output) {
        yield bytes;
        unacknowledged += bytes.length;
        if (over || unacknowledged < windowBytes / 2) continue;
        send({ type: "taken", job, bytes: unacknowledged });
        unacknowledged = 0;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      if (!over) cancel(undefined);
    }
  }

  send({ type: "start", job, spec });
  if (input) feed(job, input, window, send, () => over).catch(cancel);
  return {
    /** The output; throws the failure or the signal's reason. Can be read once. */
    output: read(),
    /** Returns the report of the tool about its output, after the end of the output. */
    reported: (): JobReport => reported,
    /** Resolves when its process has exited. */
    settled,
    onRequest: async (number: number, request: TextRequest): Promise<void> => {
      const response = (await listener?.provide(request)) ?? { isRefused: true };
      if (!over) send({ type: "textResponse", job, response: { ...response, number } });
    },
    encoding: (sampleRate: number): void => listener?.onEncoding(sampleRate),
    spoken: (report: SpokenPieceReport): void => listener?.onSpoken(report),
    received: (bytes: Buffer): void => void output.push(bytes),
    written: window.acknowledged,
    /** Called when its process has exited, successfully or with this failure. */
    settle: (failure?: Error, report: JobReport = {}): void => {
      over = true;
      reported = report;
      window.open();
      if (failure) output.destroy(failure);
      else output.push(null);
      resolve();
    },
  };
};

/** Sends the input as fast as the helper process acknowledges it. */
const feed = async (
  job: number,
  input: AsyncIterable<Buffer>,
  window: Window,
  send: (request: Request) => void,
  isOver: () => boolean,
): Promise<void> => {
  for await (const chunk of input) {
    for (const bytes of inParts(chunk)) {
      await window.ready();
      if (isOver()) return;
      window.sent(bytes.length);
      send({ type: "input", job, bytes });
    }
  }
  if (!isOver()) send({ type: "end", job });
};
