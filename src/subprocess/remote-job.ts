import { Readable } from "node:stream";
import type { JobSpec, Request } from "./protocol.ts";
import { createWindow, type Window } from "./window.ts";

/** The service's side of a job. */
export interface RemoteJob {
  /** The output; throws the failure or the signal's reason. Can be read once. */
  readonly output: AsyncIterable<Buffer>;
  /** Resolves when its process has exited. */
  readonly settled: Promise<void>;
  received(bytes: Buffer): void;
  written(bytes: number): void;
  /** Its process has exited, successfully or with this failure. */
  settle(failure?: Error): void;
}

export const startRemoteJob = (
  job: number,
  order: JobSpec,
  input: AsyncIterable<Buffer>,
  signal: AbortSignal,
  send: (request: Request) => void,
): RemoteJob => {
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  const window = createWindow();
  const output = new Readable({ read: () => undefined });
  // Readers see the failure; without one it must not be uncaught.
  output.on("error", () => undefined);
  let over = false;

  const abandon = (failure: unknown) => {
    if (!over) send({ type: "abort", job });
    output.destroy(failure instanceof Error ? failure : new Error("abandoned"));
  };
  const onAbort = () => abandon(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });

  async function* read(): AsyncIterable<Buffer> {
    try {
      for await (const bytes of output) {
        yield bytes;
        send({ type: "taken", job, bytes: bytes.length });
      }
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      abandon(undefined);
    }
  }

  send({ type: "start", job, order });
  feed(job, input, window, send, () => over).catch(abandon);
  return {
    output: read(),
    settled,
    received: (bytes) => output.push(bytes),
    written: window.acknowledged,
    settle: (failure) => {
      over = true;
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
  for await (const bytes of input) {
    await window.ready();
    if (isOver()) return;
    window.sent(bytes.length);
    send({ type: "input", job, bytes });
  }
  if (!isOver()) send({ type: "end", job });
};
