import { EngineFailed, Unavailable } from "../domain/errors.ts";
import type { Provenance } from "../domain/usage.ts";
import { type AudioStore, AudioStoreUnavailable, type ObjectName } from "./audio-store.ts";
import { type Clock, systemClock, withDeadline } from "./clock.ts";
import { createFlights, type Flights } from "./flights.ts";
import { type Log, silent, wordsOf } from "./log.ts";
import type { MemoryCache } from "./memory-cache.ts";
import { type PipelineLimits, pipelineLimits } from "./pipeline-limits.ts";
import { type Sound, soundOf, type Take } from "./sound.ts";
import { createSpeaker, type Speak, type SpeakerParts } from "./speaker.ts";
import { createStoreReader } from "./store-reader.ts";
import { createStoreWriter, type StoreWriterStats } from "./store-writer.ts";

export type { Sound, Take };

/** From a recipe to its bytes: memory, then store, then engine, each sound made once however many ask for it. */
export interface Pipeline {
  /**
   * The sound of the first take that can be had. Each take has a hash of its own, so a sound is never kept or shared
   * under another's name, and a take that failed is tried again by the next request.
   * @throws {EngineFailed} all failed: the first one's failure
   * @throws {Invalid} the text has nothing in it that can be spoken
   * @throws {Unavailable} too much is being made at once, or it took too long
   */
  obtain(takes: readonly Take[], signal: AbortSignal): Promise<Sound>;
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
  /** Answers of `obtain` since the start. */
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

interface Made {
  readonly bytes: Buffer;
  readonly from: "store" | "engine";
}

export const createPipeline = (parts: PipelineParts): Pipeline => {
  const { cache, clock, limits, log, reader, writer, speak } = assemble(parts);
  const full = () => new Unavailable("Too much is asked for at once.", 1);
  const takesUnderWay = createFlights<Made>({ most: limits.underWay, full });
  const readsUnderWay: Reads = createFlights({ most: limits.underWay, full });
  const fetchesUnderWay: Reads = createFlights({ most: limits.fetching, full });
  const answers: Record<Provenance, number> = { miss: 0, coalesced: 0, memory: 0, store: 0 };
  let failures = 0;

  const held = (name: ObjectName): Buffer | undefined => cache.get(name) ?? writer.pending(name);

  const read = async (reads: Reads, name: ObjectName, signal: AbortSignal): Promise<Buffer | undefined> => {
    const { value } = await reads.join(name, (shared) => reader.read(name, shared), signal);
    if (value) cache.set(name, value);
    return value;
  };

  const tellFailure = ({ recipe, systemVoice }: Take, error: EngineFailed): void => {
    failures++;
    log.warn({ engine: recipe.engine, systemVoice, reason: wordsOf(error) }, "A voice could not speak.");
  };

  const make = async (take: Take, signal: AbortSignal): Promise<Made> => {
    const stored = await orNothing(read(readsUnderWay, take.name, signal));
    if (stored) return { bytes: stored, from: "store" };
    const bytes = await speak(take, signal).catch((error: unknown) => {
      if (error instanceof EngineFailed) tellFailure(take, error);
      throw error;
    });
    cache.set(take.name, bytes);
    writer.put(take.name, bytes);
    return { bytes, from: "engine" };
  };

  const obtainOne = async (take: Take, signal: AbortSignal): Promise<[Buffer, Provenance]> => {
    const bytes = held(take.name);
    if (bytes) return [bytes, "memory"];
    const { value, leader } = await takesUnderWay.join(take.name, (shared) => make(take, shared), signal);
    return [value.bytes, value.from === "store" ? "store" : leader ? "miss" : "coalesced"];
  };

  const obtainFirst = async (takes: readonly Take[], signal: AbortSignal): Promise<Sound> => {
    const failed: { systemVoice: string; error: EngineFailed }[] = [];
    for (const take of takes) {
      try {
        const [bytes, provenance] = await obtainOne(take, signal);
        answers[provenance]++;
        return soundOf(take, bytes, provenance, namesOf(failed));
      } catch (error) {
        if (!(error instanceof EngineFailed)) throw error;
        failed.push({ systemVoice: take.systemVoice, error });
      }
    }
    throw failed[0]?.error ?? new TypeError("There is nothing to obtain.");
  };

  return {
    obtain: (takes, signal) => {
      const late = () => new Unavailable("The sound could not be made in time.", 5);
      return withDeadline({ clock, ms: limits.obtainMs, late, signal }, (both) => obtainFirst(takes, both));
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
      failures,
      underWay: takesUnderWay.size(),
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
  const speak: Speak = createSpeaker({ engines, encoder, log, maxObjectBytes });
  return { cache, clock, limits, log, reader, writer, speak };
};

const namesOf = (failed: readonly { systemVoice: string }[]): string[] =>
  failed.map(({ systemVoice }) => systemVoice);

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
