import type { Streaming, SynthesisStream } from "../../../src/application/synthesis/streaming.ts";
import type { RequestContext, SynthesisPlan } from "../../../src/application/synthesis/synthesis.ts";
import { NotFound } from "../../../src/domain/errors.ts";
import { engines } from "../../../src/domain/synthesis/speech.ts";

/** A synthesis whose every step a test takes by hand. */
export interface ManualSynthesis {
  readonly plan: SynthesisPlan;
  readonly order: RequestContext;
  readonly signal: AbortSignal;
  /** Lets `begin` answer. */
  start(): void;
  /** Lets it refuse. */
  refuse(error: Error): void;
  /** Offers a chunk; resolves when it has been asked for. */
  push(chunk: Buffer): Promise<void>;
  end(): void;
  fail(error: Error): void;
  /** How many chunks were asked for. */
  readonly pulled: number;
  /** Resolves when the reading has ended, however it did. */
  readonly closed: Promise<void>;
}

export interface ManualStreaming {
  readonly streaming: Streaming;
  /** The next synthesis that is begun. */
  next(): Promise<ManualSynthesis>;
  /** Those that were begun so far. */
  readonly started: number;
}

interface Chunk {
  readonly data?: Buffer;
  readonly error?: Error;
  readonly taken: () => void;
}

export const createManualStreaming = (): ManualStreaming => {
  const waiting: ManualSynthesis[] = [];
  const asking: ((performance: ManualSynthesis) => void)[] = [];
  let begun = 0;

  const begin: Streaming["begin"] = async (plan, order, signal) => {
    begun += 1;
    const started = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const chunks: Chunk[] = [];
    let arrived = Promise.withResolvers<void>();
    let pulled = 0;
    const put = (chunk: Chunk): void => {
      chunks.push(chunk);
      arrived.resolve();
    };
    signal.addEventListener("abort", () => {
      started.reject(signal.reason);
      arrived.resolve();
    });
    const audio = async function* (): AsyncGenerator<Buffer> {
      try {
        for (;;) {
          while (chunks.length === 0 && !signal.aborted) {
            arrived = Promise.withResolvers();
            await arrived.promise;
          }
          signal.throwIfAborted();
          const { data, error, taken } = chunks.shift() as Chunk;
          taken();
          if (error) throw error;
          if (!data) return;
          pulled += 1;
          yield data;
        }
      } finally {
        left.resolve();
      }
    };
    const performance: ManualSynthesis = {
      plan,
      order,
      signal,
      start: started.resolve,
      refuse: started.reject,
      push: (data) => new Promise((taken) => put({ data, taken })),
      end: () => put({ taken: () => {} }),
      fail: (error) => put({ error, taken: () => {} }),
      get pulled() {
        return pulled;
      },
      closed: left.promise,
    };
    const ask = asking.shift();
    if (ask) ask(performance);
    else waiting.push(performance);
    await started.promise;
    const stream: SynthesisStream = {
      contentType: "audio/mpeg",
      prosodyApplied: ["pitch", "rate"],
      provenance: "miss",
      audio: audio(),
      delivered: () => {},
    };
    return stream;
  };

  return {
    streaming: { begin, requireProvider },
    next: () =>
      new Promise((resolve) => {
        const performance = waiting.shift();
        if (performance) resolve(performance);
        else asking.push(resolve);
      }),
    get started() {
      return begun;
    },
  };
};

const requireProvider: Streaming["requireProvider"] = ({ renditions: [{ recipe }] }) => {
  if (!engines[recipe.engine].byok) throw new NotFound(`The engine ${recipe.engine} does not stream.`);
};
