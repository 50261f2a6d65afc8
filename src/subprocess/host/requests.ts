import { on } from "node:events";
import { Worker } from "node:worker_threads";

/** A request to a program that can end its work for it early. */
export interface SpeakerRequest<Content> {
  readonly content: Content;
  /** True if the text is no longer needed. */
  readonly isCancelled: () => boolean;
}

/** A byte of a library's memory: while it is 1, the library stops what it does. */
export type StopByte = Uint8Array<SharedArrayBuffer>;

/** The data that the thread that reads requests shares with the program. */
export interface RequestReaderData {
  /** The number of the last request that was cancelled; the first request has the number 1. */
  readonly cancelled: Int32Array<SharedArrayBuffer>;
  readonly stopByte: StopByte;
}

/** Without limits, the thread would reserve 500 MB of the memory that the process may have. */
const resourceLimits = { codeRangeSizeMb: 8, maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };

/**
 * Yields the requests in the program's input. A thread of its own reads them, so that a
 * cancellation arrives in the middle of a synthesis that does not return to the event loop.
 * @param stopByte is 1 from the cancellation of a request until the next request is taken
 */
export async function* readRequests<Content>(
  stopByte: StopByte = new Uint8Array(new SharedArrayBuffer(1)),
): AsyncGenerator<SpeakerRequest<Content>, void> {
  const cancelled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: RequestReaderData = { cancelled, stopByte };
  const reader = new Worker(new URL("./request-reader.ts", import.meta.url), {
    workerData,
    resourceLimits,
    // Otherwise the thread's output would be piped to `process.stdout`, and the process's own
    // output would become non-blocking.
    stdout: true,
    stderr: true,
  });
  let number = 0;
  for await (const [line] of on(reader, "message", { close: ["exit"] })) {
    const taken = ++number;
    const isCancelled = (): boolean => Atomics.load(cancelled, 0) >= taken;
    // The reader writes the number before the byte: a cancellation between these lines is not lost.
    Atomics.store(stopByte, 0, 0);
    if (isCancelled()) Atomics.store(stopByte, 0, 1);
    yield { content: JSON.parse(line as string) as Content, isCancelled };
  }
}
