import { createFlights, type Flights } from "../../async/single-flight.ts";
import { type Clock, systemClock, withDeadline } from "../../async/sleep.ts";
import { EngineFailed, Unavailable, Unpronounceable } from "../../domain/errors.ts";
import type { Provenance } from "../../domain/usage/usage.ts";
import { type Sound, soundOf, type Take } from "../formats/sound.ts";
import { type AudioStore, AudioStoreUnavailable, type ObjectName } from "../store/audio-store.ts";
import { createMaking, tooMuch } from "./in-flight-syntheses.ts";
import { type Log, silent } from "./log.ts";
import type { MemoryCache } from "./memory-cache.ts";
import { type PipelineLimits, pipelineLimits } from "./pipeline-limits.ts";
import { createSpeaker, type SpeakerParts } from "./renderer.ts";
import { type Broadcast, pieces } from "./shared-stream.ts";
import { createStoreReader } from "./store-reader.ts";
import { createStoreWriter, type StoreWriterStats } from "./store-writer.ts";
import type { StreamedSound } from "./streamed-sound.ts";

export type { Sound, StreamedSound, Take };

/** From a recipe to its bytes: memory, then store, then engine, each sound made once however many ask for it. */
export interface Pipeline {
  /**
   * The sound of the first take that can be had. Each take has a hash of its own, so a sound is never kept or shared
   * under another's name. A free engine's take that failed is not tried again for a few seconds. Work for it waits in
   * the queue of that API key; without one, in a queue of its own.
   * @throws {EngineFailed} all failed: the first one's failure
   * @throws {Invalid} the text has nothing in it that can be spoken, or that the first take's voice can pronounce
   * @throws {Unavailable} too much is being made at once, or it took too long
   */
  obtain(takes: readonly Take[], signal: AbortSignal, apiKey?: string): Promise<Sound>;
  /**
   * The same, from its first bytes on while the rest is being made; whoever asks for it meanwhile, by this or by
   * `obtain`, shares the making. Resolves when the first bytes of a take are there: a failure from then on is the
   * stream's, and no other take is tried.
   * @throws as `obtain`
   */
  stream(takes: readonly Take[], signal: AbortSignal, apiKey?: string): Promise<StreamedSound>;
  /** The sound, if it lies in memory. */
  peek(take: Take): Sound | undefined;
  /** The sound from memory or store; none is made. A store out of order counts as one that has nothing. */
  find(take: Take, signal: AbortSignal): Promise<Sound | undefined>;
  /**
   * The object of that name from memory or store. Whether the caller may have it (`private/`) is not judged here.
   * @throws {Unavailable} the store is out of order, so that nobody can tell
   */
  fetch(name: ObjectName, signal: AbortSignal): Promise<Buffer | undefined>;
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

export interface PipelineParts extends Pick<SpeakerParts, "engines" | "encoder"> {
  readonly store: AudioStore;
  readonly cache: MemoryCache;
  readonly clock?: Clock;
  readonly log?: Log;
  /** 0 to 1. */
  readonly random?: () => number;
  readonly limits?: Partial<PipelineLimits>;
}

type Reads = Flights<Buffer | undefined>;

export const createPipeline = (parts: PipelineParts): Pipeline => {
  const { cache, clock, limits, reader, writer, making } = assemble(parts);
  const late = () => new Unavailable("The sound could not be made in time.", 5);
  const readsUnderWay: Reads = createFlights({ most: limits.underWay, full: tooMuch });
  const fetchesUnderWay: Reads = createFlights({ most: limits.fetching, full: tooMuch });
  const answers: Record<Provenance, number> = { miss: 0, coalesced: 0, memory: 0, store: 0 };

  const held = (name: ObjectName): Buffer | undefined => cache.get(name) ?? writer.pending(name);

  const read = async (reads: Reads, name: ObjectName, signal: AbortSignal): Promise<Buffer | undefined> => {
    const { value } = await reads.join(name, (shared) => reader.read(name, shared), signal);
    if (value) cache.set(name, value);
    return value;
  };

  /** The sound where it is already, or the making of it, shared with whoever else wants it. */
  const locate = async (take: Take, asked: Asked, signal: AbortSignal): Promise<Located> => {
    const { name } = take;
    signal.throwIfAborted();
    const inMemory = held(name);
    if (inMemory) return { provenance: "memory", bytes: inMemory };
    if (!making.isUnderWay(name)) {
      const stored = await orNothing(read(readsUnderWay, name, signal));
      if (stored) return { provenance: "store", bytes: stored };
    }
    const shared = making.join(name, asked.apiKey);
    if (shared) return { provenance: "coalesced", broadcast: shared };
    const finishedMeanwhile = held(name);
    if (finishedMeanwhile) return { provenance: "memory", bytes: finishedMeanwhile };
    return { provenance: "miss", broadcast: making.begin(take, asked) };
  };

  const inTheEnd = (provenance: Provenance, broadcast: Broadcast): Provenance =>
    provenance === "miss" && making.wasFound(broadcast) ? "store" : provenance;

  const obtainOne = async (take: Take, asked: Asked, signal: AbortSignal): Promise<[Buffer, Provenance]> => {
    const { provenance, bytes, broadcast } = await locate(take, asked, signal);
    if (bytes) return [bytes, provenance];
    const sound = await broadcast.whole(signal);
    return [sound, inTheEnd(provenance, broadcast)];
  };

  const streamOne = async (
    take: Take,
    asked: Asked,
    signal: AbortSignal,
  ): Promise<[AsyncIterable<Buffer>, Provenance]> => {
    const { provenance, bytes, broadcast } = await locate(take, asked, signal);
    if (bytes) return [pieces(bytes), provenance];
    const audio = await broadcast.listen(signal);
    return [audio, inTheEnd(provenance, broadcast)];
  };

  /** What the first take gives that does not fail, and the names of those that did. */
  const firstOf = async <T>(
    takes: readonly Take[],
    attempt: (take: Take) => Promise<[T, Provenance]>,
  ): Promise<{ take: Take; got: T; provenance: Provenance; failed: string[] }> => {
    const failed: { systemVoice: string; error: EngineFailed | Unpronounceable }[] = [];
    for (const take of takes) {
      try {
        const [got, provenance] = await attempt(take);
        answers[provenance]++;
        return { take, got, provenance, failed: failed.map(({ systemVoice }) => systemVoice) };
      } catch (error) {
        if (!(error instanceof EngineFailed || error instanceof Unpronounceable)) throw error;
        failed.push({ systemVoice: take.systemVoice, error });
      }
    }
    throw failed[0]?.error ?? new TypeError("There is nothing to obtain.");
  };

  return {
    obtain: async (takes, signal, apiKey) => {
      const asked = { progressive: false, apiKey };
      const { take, got, provenance, failed } = await withDeadline(
        { clock, ms: limits.obtainMs, late, signal },
        (both) => firstOf(takes, (take) => obtainOne(take, asked, both)),
      );
      return soundOf(take, got, provenance, failed);
    },
    stream: async (takes, signal, apiKey) => {
      const asked = { progressive: true, apiKey };
      // The deadline is for the first bytes alone: the signal that the stream lives by must outlast it.
      const tooLate = new AbortController();
      const cancel = clock.after(limits.obtainMs, () => tooLate.abort(late()));
      const either = AbortSignal.any([signal, tooLate.signal]);
      try {
        const { take, got, provenance, failed } = await firstOf(takes, (take) =>
          streamOne(take, asked, either),
        );
        return { take, failed, provenance, audio: got };
      } finally {
        cancel();
      }
    },
    peek: (take) => {
      const bytes = held(take.name);
      return bytes && soundOf(take, bytes, "memory");
    },
    find: async (take, signal) => {
      const bytes = held(take.name);
      if (bytes) return soundOf(take, bytes, "memory");
      const stored = await orNothing(read(readsUnderWay, take.name, signal));
      return stored && soundOf(take, stored, "store");
    },
    fetch: async (name, signal) => held(name) ?? (await orUnavailable(read(fetchesUnderWay, name, signal))),
    drain: writer.drain,
    stats: () => ({
      answers: { ...answers },
      ...making.stats(),
      memory: cache.stats(),
      writes: writer.stats(),
      storeReads: reader.breaker(),
    }),
  };
};

const assemble = (parts: PipelineParts) => {
  const { engines, encoder, store, cache } = parts;
  const { clock = systemClock, log = silent, random = Math.random } = parts;
  const limits = { ...pipelineLimits, ...parts.limits };
  const { readFailures: failures, readCoolingMs: coolingMs, objectBytes: maxObjectBytes } = limits;
  const breaker = { failures, coolingMs };
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
  const speaker = createSpeaker({ engines, encoder, maxObjectBytes });
  const making = createMaking({
    speaker,
    look: (name, signal) => orNothing(reader.read(name, signal)),
    clock,
    limits,
    log,
    onFinished: (name, sound, how) => {
      cache.set(name, sound);
      if (how === "made") writer.put(name, sound);
    },
  });
  return { cache, clock, limits, reader, writer, making };
};

interface Asked {
  readonly progressive: boolean;
  readonly apiKey: string | undefined;
}

/** One of the two. */
type Located =
  | { readonly provenance: Provenance; readonly bytes: Buffer; readonly broadcast?: undefined }
  | { readonly provenance: Provenance; readonly bytes?: undefined; readonly broadcast: Broadcast };

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
