import { type Clock, systemClock } from "../../async/clock.ts";
import { withDeadline } from "../../async/deadline.ts";
import { createSingleFlight, type SingleFlight } from "../../async/single-flight.ts";
import { EngineFailed, Unavailable, Unpronounceable } from "../../domain/errors.ts";
import type { Provenance } from "../../domain/usage/usage.ts";
import { type Rendition, type Sound, soundOf } from "../formats/sound.ts";
import { type AudioStore, AudioStoreUnavailable, type ObjectName } from "../store/audio-store.ts";
import { createInFlightSyntheses, tooMuch } from "./in-flight-syntheses.ts";
import { type Log, silent } from "./log.ts";
import type { MemoryCache } from "./memory-cache.ts";
import { type PipelineLimits, pipelineLimits } from "./pipeline-limits.ts";
import { createRenderer, type RendererOptions } from "./renderer.ts";
import { inChunks, type SharedStream } from "./shared-stream.ts";
import { createStoreReader } from "./store-reader.ts";
import { createStoreWriter, type StoreWriterStats } from "./store-writer.ts";
import type { StreamedSound } from "./streamed-sound.ts";

export type { Rendition, Sound, StreamedSound };

/** From a recipe to its audio: memory, then store, then engine. At most one synthesis runs per object. */
export interface Pipeline {
  /**
   * The sound of the first rendition that succeeds. Each rendition has its own hash and object. A failed rendition of
   * a free engine is not retried for a few seconds. Work waits in the queue of `apiKey`; without one, in its own
   * queue. @throws {EngineFailed} all renditions failed: the failure of the first @throws {Invalid} the text contains
   * nothing that can be spoken, or that the first voice can pronounce @throws {Unavailable} the pipeline is
   * overloaded, or the deadline has passed
   */
  obtain(renditions: readonly Rendition[], signal: AbortSignal, apiKey?: string): Promise<Sound>;
  /**
   * Like `obtain`, but resolves with the first bytes of a rendition. Later failures are the stream's, and no other
   * rendition is tried. Concurrent callers share the synthesis. @throws as `obtain`
   */
  stream(renditions: readonly Rendition[], signal: AbortSignal, apiKey?: string): Promise<StreamedSound>;
  /** The sound, if it is in memory. */
  fromMemory(rendition: Rendition): Sound | undefined;
  /** The sound from memory or store, without synthesis. An unavailable store counts as empty. */
  fromCache(rendition: Rendition, signal: AbortSignal): Promise<Sound | undefined>;
  /**
   * The object from memory or store. The caller checks access to `private/` objects. @throws {Unavailable} the store
   * cannot be read
   */
  getObject(name: ObjectName, signal: AbortSignal): Promise<Buffer | undefined>;
  /** Shutdown: see StoreWriter.drain. */
  drain(timeoutMs: number): Promise<number>;
  stats(): PipelineStats;
}

export interface PipelineStats {
  /** Results of `obtain` and `stream` since the start. */
  readonly answers: Readonly<Record<Provenance, number>>;
  /** Failed renditions since the start. */
  readonly failures: number;
  readonly underWay: number;
  readonly memory: ReturnType<MemoryCache["stats"]>;
  readonly writes: StoreWriterStats;
  readonly storeReads: "closed" | "open";
}

export interface PipelineOptions extends Pick<RendererOptions, "engines" | "encoder"> {
  readonly store: AudioStore;
  readonly cache: MemoryCache;
  readonly clock?: Clock;
  readonly log?: Log;
  /** 0 to 1. */
  readonly random?: () => number;
  readonly limits?: Partial<PipelineLimits>;
}

type Reads = SingleFlight<Buffer | undefined>;

export const createPipeline = (parts: PipelineOptions): Pipeline => {
  const { cache, clock, limits, reader, writer, synthesesInFlight } = assemble(parts);
  const onTimeout = () => new Unavailable("The audio was not ready in time.", 5);
  const readsUnderWay: Reads = createSingleFlight({ max: limits.inFlight, full: tooMuch });
  const fetchesUnderWay: Reads = createSingleFlight({ max: limits.objectReads, full: tooMuch });
  const answers: Record<Provenance, number> = { miss: 0, coalesced: 0, memory: 0, store: 0 };

  const cached = (name: ObjectName): Buffer | undefined => cache.get(name) ?? writer.pending(name);

  const read = async (reads: Reads, name: ObjectName, signal: AbortSignal): Promise<Buffer | undefined> => {
    const { value } = await reads.run(name, (shared) => reader.read(name, shared), signal);
    if (value) cache.set(name, value);
    return value;
  };

  /** The bytes from memory or store, or the synthesis, shared with other callers. */
  const locate = async (rendition: Rendition, wanted: Wanted, signal: AbortSignal): Promise<Located> => {
    const { name } = rendition;
    signal.throwIfAborted();
    const inMemory = cached(name);
    if (inMemory) return { provenance: "memory", bytes: inMemory };
    if (!synthesesInFlight.has(name)) {
      const stored = await orUndefined(read(readsUnderWay, name, signal));
      if (stored) return { provenance: "store", bytes: stored };
    }
    const shared = synthesesInFlight.join(name, wanted.apiKey);
    if (shared) return { provenance: "coalesced", shared: shared };
    const finished = cached(name);
    if (finished) return { provenance: "memory", bytes: finished };
    return { provenance: "miss", shared: synthesesInFlight.begin(rendition, wanted) };
  };

  const finalProvenance = (provenance: Provenance, shared: SharedStream): Provenance =>
    provenance === "miss" && synthesesInFlight.cameFromStore(shared) ? "store" : provenance;

  const obtainOne = async (
    rendition: Rendition,
    wanted: Wanted,
    signal: AbortSignal,
  ): Promise<[Buffer, Provenance]> => {
    const { provenance, bytes, shared } = await locate(rendition, wanted, signal);
    if (bytes) return [bytes, provenance];
    const sound = await shared.readAll(signal);
    return [sound, finalProvenance(provenance, shared)];
  };

  const streamOne = async (
    rendition: Rendition,
    wanted: Wanted,
    signal: AbortSignal,
  ): Promise<[AsyncIterable<Buffer>, Provenance]> => {
    const { provenance, bytes, shared } = await locate(rendition, wanted, signal);
    if (bytes) return [inChunks(bytes), provenance];
    const audio = await shared.read(signal);
    return [audio, finalProvenance(provenance, shared)];
  };

  /** The result of the first rendition that succeeds, and the system voices of those that failed. */
  const firstOf = async <T>(
    renditions: readonly Rendition[],
    attempt: (rendition: Rendition) => Promise<[T, Provenance]>,
  ): Promise<{ rendition: Rendition; got: T; provenance: Provenance; failed: string[] }> => {
    const failed: { systemVoice: string; error: EngineFailed | Unpronounceable }[] = [];
    for (const rendition of renditions) {
      try {
        const [got, provenance] = await attempt(rendition);
        answers[provenance]++;
        return { rendition, got, provenance, failed: failed.map(({ systemVoice }) => systemVoice) };
      } catch (error) {
        if (!(error instanceof EngineFailed || error instanceof Unpronounceable)) throw error;
        failed.push({ systemVoice: rendition.systemVoice, error });
      }
    }
    throw failed[0]?.error ?? new TypeError("No rendition was given.");
  };

  return {
    obtain: async (renditions, signal, apiKey) => {
      const wanted = { progressive: false, apiKey };
      const { rendition, got, provenance, failed } = await withDeadline(
        { clock, ms: limits.obtainMs, onTimeout, signal },
        (both) => firstOf(renditions, (rendition) => obtainOne(rendition, wanted, both)),
      );
      return soundOf(rendition, got, provenance, failed);
    },
    stream: async (renditions, signal, apiKey) => {
      const wanted = { progressive: true, apiKey };
      // The deadline ends with the first bytes; the stream's signal must outlast it.
      const deadline = new AbortController();
      const cancel = clock.after(limits.obtainMs, () => deadline.abort(onTimeout()));
      const either = AbortSignal.any([signal, deadline.signal]);
      try {
        const { rendition, got, provenance, failed } = await firstOf(renditions, (rendition) =>
          streamOne(rendition, wanted, either),
        );
        return { rendition, failed, provenance, audio: got };
      } finally {
        cancel();
      }
    },
    fromMemory: (rendition) => {
      const bytes = cached(rendition.name);
      return bytes && soundOf(rendition, bytes, "memory");
    },
    fromCache: async (rendition, signal) => {
      const bytes = cached(rendition.name);
      if (bytes) return soundOf(rendition, bytes, "memory");
      const stored = await orUndefined(read(readsUnderWay, rendition.name, signal));
      return stored && soundOf(rendition, stored, "store");
    },
    getObject: async (name, signal) =>
      cached(name) ?? (await orUnavailable(read(fetchesUnderWay, name, signal))),
    drain: writer.drain,
    stats: () => ({
      answers: { ...answers },
      ...synthesesInFlight.stats(),
      memory: cache.stats(),
      writes: writer.stats(),
      storeReads: reader.breaker(),
    }),
  };
};

const assemble = (parts: PipelineOptions) => {
  const { engines, encoder, store, cache } = parts;
  const { clock = systemClock, log = silent, random = Math.random } = parts;
  const limits = { ...pipelineLimits, ...parts.limits };
  const { objectBytes: maxObjectBytes, readFailureThreshold: threshold, readResetMs: resetMs } = limits;
  const breaker = { threshold, resetMs };
  const reader = createStoreReader({ store, clock, log, timeoutMs: limits.readMs, breaker });
  const writer = createStoreWriter({
    store,
    clock,
    log,
    random,
    maxPendingBytes: limits.pendingBytes,
    concurrency: limits.writesAtOnce,
    timeoutMs: limits.writeMs,
    retryForMs: limits.retryMs,
  });
  const renderer = createRenderer({ engines, encoder, maxObjectBytes });
  const synthesesInFlight = createInFlightSyntheses({
    renderer,
    recheck: (name, signal) => orUndefined(reader.read(name, signal)),
    clock,
    limits,
    log,
    onFinished: (name, sound, how) => {
      cache.set(name, sound);
      if (how === "made") writer.put(name, sound);
    },
  });
  return { cache, clock, limits, reader, writer, synthesesInFlight };
};

interface Wanted {
  readonly progressive: boolean;
  readonly apiKey: string | undefined;
}

type Located =
  | { readonly provenance: Provenance; readonly bytes: Buffer; readonly shared?: undefined }
  | { readonly provenance: Provenance; readonly bytes?: undefined; readonly shared: SharedStream };

/** An unavailable store must not prevent a synthesis: it counts as empty. */
const orUndefined = <T>(read: Promise<T | undefined>): Promise<T | undefined> =>
  read.catch((error: unknown) => {
    if (error instanceof AudioStoreUnavailable) return undefined;
    throw error;
  });

/** Without an answer from the store, it is unknown whether the object exists. */
const orUnavailable = <T>(read: Promise<T>): Promise<T> =>
  read.catch((error: unknown) => {
    if (!(error instanceof AudioStoreUnavailable)) throw error;
    throw new Unavailable("The audio store cannot be read.", 5, { cause: error });
  });
