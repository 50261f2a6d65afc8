import type { SynthesisStream } from "../../../application/synthesis/delivery.ts";
import { isRetryable, presentError } from "../../kernel/errors/error-codes.ts";

/** Proxies wait at least 60 s for data. */
export const defaultHeartbeatMs = 15_000;

/** Formats audio as server-sent events: `event:` is the type, `data:` the whole event as JSON. */
export async function* eventStream(
  { contentType, prosodyApplied, audio }: Pick<SynthesisStream, "contentType" | "prosodyApplied" | "audio">,
  { heartbeatMs = defaultHeartbeatMs }: { readonly heartbeatMs?: number } = {},
): AsyncGenerator<string> {
  let totalBytes = 0;
  let chunkIndex = 0;
  // The first audio exists already: it is sent in one write with the metadata.
  let metadata = event("metadata", { contentType, prosodyApplied });
  const withMetadata = (event: string): string => {
    const both = metadata + event;
    metadata = "";
    return both;
  };
  try {
    for await (const chunk of withHeartbeats(audio, heartbeatMs)) {
      if (chunk === heartbeat) {
        yield withMetadata(heartbeatComment);
        continue;
      }
      totalBytes += chunk.length;
      yield withMetadata(event("audio", { chunkIndex: chunkIndex++, data: chunk.toString("base64") }));
    }
  } catch (error) {
    yield withMetadata(event("error", streamError(error)));
    return;
  }
  yield withMetadata(event("end", { totalBytes, totalChunks: chunkIndex }));
}

/** The `error` event of a stream that fails after its start. */
export const streamError = (error: unknown): { message: string; retryable: boolean } => ({
  message: presentError(error).body.error.message,
  retryable: isRetryable(error),
});

const event = (type: string, chunk: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...chunk })}\n\n`;

export const heartbeat = Symbol("heartbeat");
/** Readers of server-sent events ignore it. */
export const heartbeatComment = ": heartbeat\n\n";

/** Adds heartbeats while no chunk arrives, so that proxies do not time out. */
export async function* withHeartbeats<T>(
  chunks: AsyncIterable<T>,
  everyMs: number,
): AsyncGenerator<T | typeof heartbeat> {
  const reading = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = reading.next();
      let result = await firstWithin(next, everyMs);
      while (result === heartbeat) {
        yield heartbeat;
        result = await firstWithin(next, everyMs);
      }
      if (result.done) return;
      yield result.value;
    }
  } finally {
    await reading.return?.();
  }
}

const firstWithin = async <T>(promise: Promise<T>, ms: number): Promise<T | typeof heartbeat> => {
  const pause = Promise.withResolvers<typeof heartbeat>();
  const timer = setTimeout(pause.resolve, ms, heartbeat).unref();
  try {
    return await Promise.race([promise, pause.promise]);
  } finally {
    clearTimeout(timer);
  }
};
