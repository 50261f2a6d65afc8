import type { Streaming } from "../../application/synthesis/delivery.ts";
import type { Encoder } from "../../audio/formats/encoder.ts";
import type { Pipeline, Rendition } from "../../audio/pipeline/pipeline.ts";
import type { AudioStore } from "../../audio/store/audio-store.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { AudioSource } from "../../domain/ledger/journal/serving.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import type { Instruments } from "../instruments.ts";
import { runOperation, startOperation, trackStream } from "../operation.ts";
import { inThisTrace, isRecording, withSpan } from "../spans.ts";

export const instrumentAudioStore = (instruments: Instruments) => {
  const duration = instruments.histogram("audioStoreDuration");

  const timed = async <T>(
    operation: "get" | "put",
    outcomeOf: (result: T) => string,
    run: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> => {
    const startedAt = performance.now();
    const end = (outcome: string): void =>
      duration((performance.now() - startedAt) / 1_000, { operation, outcome });
    try {
      const result = await withSpan(`audio store ${operation}`, {}, run, signal);
      end(outcomeOf(result));
      return result;
    } catch (error) {
      end(signal?.aborted ? "abandoned" : "failed");
      throw error;
    }
  };

  return (store: AudioStore): AudioStore => ({
    ...store,
    get: (name, signal) =>
      timed(
        "get",
        (audio) => (audio ? "found" : "absent"),
        () => store.get(name, signal),
        signal,
      ),
    read: (name, range, signal) =>
      timed(
        "get",
        (part) => (part ? "found" : "absent"),
        () => store.read(name, range, signal),
        signal,
      ),
    put: (name, audio) =>
      timed(
        "put",
        () => "stored",
        () => store.put(name, audio),
      ),
  });
};

/**
 * Times and traces encodings. If the samples fail, the encoder has not failed: the encoding counts
 * as abandoned.
 */
export const instrumentEncoder = (instruments: Instruments) => {
  const duration = instruments.histogram("encoderDuration");

  const start = (format: AudioFormat, sampleRate: number, signal: AbortSignal) =>
    startOperation({
      name: `encode ${format}`,
      attributes: { "voxledger.format": format, "voxledger.sample_rate": sampleRate },
      signal,
      onEnd: (outcome, seconds) => duration(seconds, { format, outcome }),
    });

  return (encoder: Encoder): Encoder => ({
    ...encoder,
    observe: (format, signal) => {
      let operation: ReturnType<typeof start> | undefined;
      return {
        started: inThisTrace((sampleRate: number) => {
          operation ??= start(format, sampleRate, signal);
        }),
        firstByte: () => operation?.firstByte(),
        succeeded: () => operation?.end(),
        failed: (error) => {
          if (error instanceof Unavailable) operation?.fail(error);
          else operation?.cancel();
        },
        ignored: () => operation?.cancel(),
      };
    },
    encode: (format, sampleRate, pcm, signal, options) => {
      const operation = start(format, sampleRate, signal);
      return trackStream(
        operation.run(() =>
          encoder.encode(format, sampleRate, onFailure(pcm, operation.cancel), signal, options),
        ),
        operation,
      );
    },
  });
};

async function* onFailure(chunks: AsyncIterable<Buffer>, fail: () => void): AsyncGenerator<Buffer, void> {
  try {
    yield* chunks;
  } catch (error) {
    fail();
    throw error;
  }
}

/**
 * Adds a span to the request's trace. The spans of store reads, synthesis and encoding are its
 * children.
 */
export const instrumentPipeline = (pipeline: Pipeline): Pipeline => ({
  ...pipeline,
  obtain: (renditions, signal, ...caller) =>
    withAudioSpan(renditions, signal, () => pipeline.obtain(renditions, signal, ...caller)),
  stream: (renditions, signal, ...caller) =>
    withAudioSpan(renditions, signal, () => pipeline.stream(renditions, signal, ...caller)),
});

const withAudioSpan = <T extends { source: AudioSource; failed: readonly string[] }>(
  [first]: readonly Rendition[],
  signal: AbortSignal,
  obtain: () => Promise<T>,
): Promise<T> =>
  withSpan(
    "obtain sound",
    first ? { "voxledger.engine": first.recipe.engine, "voxledger.format": first.recipe.format } : {},
    async (span) => {
      const audio = await obtain();
      const { source, failed } = audio;
      span?.setAttributes({ "voxledger.provenance": source, "voxledger.failed_voices": failed.length });
      return audio;
    },
    signal,
  );

/**
 * The span lasts until the listener has received the last chunk. On a long-lived connection, each
 * sampled stream starts a trace of its own.
 */
export const instrumentStreaming =
  (shouldSample: () => boolean) =>
  (streaming: Streaming): Streaming => ({
    ...streaming,
    begin: async (plan, context, signal) => {
      const root = (context.kind === "websocket" || context.kind === "wyoming") && shouldSample();
      if (!root && !isRecording()) return await streaming.begin(plan, context, signal);
      const attributes = { "voxledger.delivery": context.kind, "voxledger.request_id": context.requestId };
      const [stream, audio] = await runOperation(
        { name: "stream", attributes, root, signal },
        () => streaming.begin(plan, context, signal),
        (started) => started.audio,
        (span, { source }) => span.setAttribute("voxledger.provenance", source),
      );
      return { ...stream, audio };
    },
  });
