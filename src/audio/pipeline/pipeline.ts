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

/** From a recipe to its bytes: memory, then store, then engine, each sound made once however many ask for it. */
export interface Pipeline {
  /**
   * The sound of the first rendition that can be had. Each rendition has a hash of its own, so a sound is never kept or shared
   * under another's name. A free engine's rendition that failed is not tried again for a few seconds. Work for it waits in
   * the queue of that API key; without one, in a queue of its own.
   * @throws {EngineFailed} all failed: the first one's failure
   * @throws {Invalid} the text has nothing in it that can be spoken, or that the first rendition's voice can pronounce
   * @throws {Unavailable} too much is being made at once, or it took too long
   */
  obtain(renditions: readonly Rendition[], signal: AbortSignal, apiKey?: string): Promise<Sound>;
  /**
   * The same, from its first bytes on while the rest is being made; whoever asks for it meanwhile, by this or by
   * `obtain`, shares the synthesesInFlight. Resolves when the first bytes of a rendition are there: a failure from then on is the
   * stream's, and no other rendition is tried.
   * @throws as `obtain`
   */
  stream(renditions: readonly Rendition[], signal: AbortSignal, apiKey?: string): Promise<StreamedSound>;
  /** The sound, if it lies in memory. */
  fromMemory(rendition: Rendition): Sound | undefined;
  /** The sound from memory or store; none is made. A store out of order counts as one that has nothing. */
  fromCache(rendition: Rendition, signal: AbortSignal): Promise<Sound | undefined>;
  /**
   * The object of that name from memory or store. Whether the caller may have it (`private/`) is not judged here.
   * @throws {Unavailable} the store is out of order, so that nobody can tell
   */
  getObject(name: ObjectName, signal: AbortSignal): Promise<Buffer | undefined>;
  /** For the end: see StoreWriter.drain. */
  drain(timeoutMs: number): Promise<number>;
  stats(): PipelineStats;
}

export interface PipelineStats {
  /** Answers of `obtain` and `stream` since the start. */
  readonly answers: Readonly<Record<Provenance, number>>;
  /** Takes that failed since the start. */
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
  const onTimeout = () => new Unavailable("The sound could not be made in time.", 5);
  const readsUnderWay: Reads = createSingleFlight({ max: limits.underWay, full: tooMuch });
  const fetchesUnderWay: Reads = createSingleFlight({ max: limits.fetching, full: tooMuch });
  const answers: Record<Provenance, number> = { miss: 0, coalesced: 0, memory: 0, store: 0 };

  const cached = (name: ObjectName): Buffer | undefined => cache.get(name) ?? writer.pending(name);

  const read = async (reads: Reads, name: ObjectName, signal: AbortSignal): Promise<Buffer | undefined> => {
    const { value } = await reads.run(name, (shared) => reader.read(name, shared), signal);
    if (value) cache.set(name, value);
    return value;
  };

  /** The sound where it is already, or the synthesesInFlight of it, shared with whoever else wants it. */
  const locate = async (rendition: Rendition, wanted: Wanted, signal: AbortSignal): Promise<Located> => {
    const { name } = rendition;
    signal.throwIfAborted();
    const inMemory = cached(name);
    if (inMemory) return { provenance: "memory", bytes: inMemory };
    if (!synthesesInFlight.has(name)) {
      const stored = await orNothing(read(readsUnderWay, name, signal));
      if (stored) return { provenance: "store", bytes: stored };
    }
    const shared = synthesesInFlight.join(name, wanted.apiKey);
    if (shared) return { provenance: "coalesced", shared: shared };
    const finishedMeanwhile = cached(name);
    if (finishedMeanwhile) return { provenance: "memory", bytes: finishedMeanwhile };
    return { provenance: "miss", shared: synthesesInFlight.begin(rendition, wanted) };
  };

  const inTheEnd = (provenance: Provenance, shared: SharedStream): Provenance =>
    provenance === "miss" && synthesesInFlight.cameFromStore(shared) ? "store" : provenance;

  const obtainOne = async (
    rendition: Rendition,
    wanted: Wanted,
    signal: AbortSignal,
  ): Promise<[Buffer, Provenance]> => {
    const { provenance, bytes, shared } = await locate(rendition, wanted, signal);
    if (bytes) return [bytes, provenance];
    const sound = await shared.readAll(signal);
    return [sound, inTheEnd(provenance, shared)];
  };

  const streamOne = async (
    rendition: Rendition,
    wanted: Wanted,
    signal: AbortSignal,
  ): Promise<[AsyncIterable<Buffer>, Provenance]> => {
    const { provenance, bytes, shared } = await locate(rendition, wanted, signal);
    if (bytes) return [inChunks(bytes), provenance];
    const audio = await shared.read(signal);
    return [audio, inTheEnd(provenance, shared)];
  };

  /** What the first rendition gives that does not fail, and the names of those that did. */
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
    throw failed[0]?.error ?? new TypeError("There is nothing to obtain.");
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
      // The deadline is for the first bytes alone: the signal that the stream lives by must outlast it.
      const tooLate = new AbortController();
      const cancel = clock.after(limits.obtainMs, () => tooLate.abort(onTimeout()));
      const either = AbortSignal.any([signal, tooLate.signal]);
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
      const stored = await orNothing(read(readsUnderWay, rendition.name, signal));
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
    recheck: (name, signal) => orNothing(reader.read(name, signal)),
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

/** One of the two. */
type Located =
  | { readonly provenance: Provenance; readonly bytes: Buffer; readonly shared?: undefined }
  | { readonly provenance: Provenance; readonly bytes?: undefined; readonly shared: SharedStream };

/** A store that is out of order must not keep anybody from speaking: it counts as one that has nothing. */
const orNothing = <T>(read: Promise<T | undefined>): Promise<T | undefined> =>
  read.catch((error: unknown) => {
    if (error instanceof AudioStoreUnavailable) return undefined;
    throw error;
  });

/** Where only the store can tell whether there is something, its silence must not be told as "no". */
const orUnavailable = <T>(read: Promise<T>): Promise<T> =>
  read.catch((error: unknown) => {
    if (!(error instanceof AudioStoreUnavailable)) throw error;
    throw new Unavailable("The audio store cannot be read now.", 5, { cause: error });
  });
