import type { SynthesisStream } from "../../../application/synthesis/streaming.ts";
import { isRetryable, presentError } from "../../kernel/errors.ts";

/** The chunks of a streaming session as server-sent events: `event:` is the type, `data:` the whole chunk as JSON. */
export async function* eventStream(
  { contentType, prosodyApplied, audio }: Pick<SynthesisStream, "contentType" | "prosodyApplied" | "audio">,
  { heartbeatMs = 15_000 }: { readonly heartbeatMs?: number } = {},
): AsyncGenerator<string> {
  let totalBytes = 0;
  let chunkIndex = 0;
  // The first sound is there already: it goes out in one piece with what is told of it.
  let metadata = event("metadata", { contentType, prosodyApplied });
  const afterMetadata = (told: string): string => {
    const both = metadata + told;
    metadata = "";
    return both;
  };
  try {
    for await (const chunk of withHeartbeats(audio, heartbeatMs)) {
      if (chunk === heartbeat) {
        yield afterMetadata(": heartbeat\n\n");
        continue;
      }
      totalBytes += chunk.length;
      yield afterMetadata(event("audio", { chunkIndex: chunkIndex++, data: chunk.toString("base64") }));
    }
  } catch (error) {
    yield afterMetadata(event("error", streamError(error)));
    return;
  }
  yield afterMetadata(event("end", { totalBytes, totalChunks: chunkIndex }));
}

/** What a listener is told of a failure midway. */
export const streamError = (error: unknown): { message: string; retryable: boolean } => ({
  message: presentError(error).body.error.message,
  retryable: isRetryable(error),
});

const event = (type: string, chunk: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...chunk })}\n\n`;

const heartbeat = Symbol("nothing for a while");

/** The chunks, and between them a sign of life whenever nothing came for so long, so that no proxy gives up. */
async function* withHeartbeats<T>(
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
