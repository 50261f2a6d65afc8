import type { RequestContext, Streaming } from "../../../src/application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../src/application/synthesis/planner.ts";
import { NotFound } from "../../../src/domain/errors.ts";
import { isByok } from "../../../src/domain/synthesis/byok-providers.ts";
import { createAsyncQueue } from "../../support/async-queue.ts";

/** A synthesis that the test controls step by step. */
export interface ManualSynthesis {
  readonly plan: SynthesisPlan;
  readonly context: RequestContext;
  readonly signal: AbortSignal;
  /** Resolves `Streaming.begin`. */
  start(): void;
  /** Rejects `Streaming.begin`. */
  refuse(error: Error): void;
  /** Adds a chunk; resolves when it has been pulled. */
  push(chunk: Buffer): Promise<void>;
  end(): void;
  fail(error: Error): void;
  /** The number of chunks that have been pulled. */
  readonly pulled: number;
  /** Resolves when the audio is no longer read, for any reason. */
  readonly closed: Promise<void>;
}

export interface ManualStreaming {
  readonly streaming: Streaming;
  /** The next synthesis that begins. */
  next(): Promise<ManualSynthesis>;
  /** The number of syntheses that have begun. */
  readonly begun: number;
}

interface Chunk {
  readonly data?: Buffer;
  readonly error?: Error;
  readonly onPulled: () => void;
}

export const createManualStreaming = (): ManualStreaming => {
  const syntheses = createAsyncQueue<ManualSynthesis>();
  let begun = 0;

  const begin: Streaming["begin"] = async (plan, context, signal) => {
    begun += 1;
    const started = Promise.withResolvers<void>();
    const { synthesis, audio } = createManualSynthesis(plan, context, signal, started);
    syntheses.push(synthesis);
    await started.promise;
    return {
      rendition: plan.renditions[0],
      contentType: "audio/mpeg",
      prosodyApplied: ["pitch", "rate"],
      source: "miss",
      characters: 1,
      audio,
      memory: Buffer.alloc(0),
      delivered: () => {},
    };
  };

  return {
    streaming: { begin, requireProvider },
    next: syntheses.next,
    get begun() {
      return begun;
    },
  };
};

const createManualSynthesis = (
  plan: SynthesisPlan,
  context: RequestContext,
  signal: AbortSignal,
  started: PromiseWithResolvers<void>,
): { synthesis: ManualSynthesis; audio: AsyncIterable<Buffer> } => {
  const closed = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  signal.addEventListener("abort", () => {
    started.reject(signal.reason);
    aborted.reject(signal.reason);
  });
  const chunks = createAsyncQueue<Chunk>();
  let pulled = 0;

  const read = async function* (): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const { data, error, onPulled } = await Promise.race([aborted.promise, chunks.next()]);
        onPulled();
        if (error) throw error;
        if (!data) return;
        pulled += 1;
        yield data;
      }
    } finally {
      closed.resolve();
    }
  };

  const synthesis: ManualSynthesis = {
    ...{ plan, context, signal },
    start: started.resolve,
    refuse: started.reject,
    push: (data) => new Promise((onPulled) => chunks.push({ data, onPulled })),
    end: () => chunks.push({ onPulled: () => {} }),
    fail: (error) => chunks.push({ error, onPulled: () => {} }),
    get pulled() {
      return pulled;
    },
    closed: closed.promise,
  };
  return { synthesis, audio: read() };
};

const requireProvider: Streaming["requireProvider"] = ({ renditions: [{ recipe }] }) => {
  if (!isByok(recipe.engine)) throw new NotFound(`The engine ${recipe.engine} does not stream.`);
};
