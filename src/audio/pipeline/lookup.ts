import { LRUCache } from "lru-cache";
import { createSingleFlight } from "../../async/single-flight.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { AudioSource } from "../../domain/ledger/journal/serving.ts";
import { marksName } from "../../domain/synthesis/marks.ts";
import type { Recipe } from "../../domain/synthesis/recipe.ts";
import { tooManyInProgress } from "../../limits/queues.ts";
import {
  type AudioContent,
  type AudioInfo,
  type AudioName,
  type AudioStore,
  AudioStoreUnavailable,
  hashInName,
  type StoredAudio,
} from "../store/audio-store.ts";
import type { Rendition } from "./audio.ts";
import type { InFlightSyntheses, Wanted } from "./in-flight-syntheses.ts";
import { legacyName } from "./legacy-names.ts";
import type { MemoryCache } from "./memory-cache.ts";
import type { PipelineLimits } from "./pipeline-limits.ts";
import { inChunks, type SharedStream } from "./shared-stream.ts";
import type { StoreReader } from "./store-reader.ts";
import type { StoreWriter } from "./store-writer.ts";

/** The maximum number of deleted hashes that are remembered. Each takes about 200 bytes. */
const maxDeleted = 100_000;

interface LookupParts {
  readonly store: Pick<AudioStore, "remove">;
  readonly cache: MemoryCache;
  readonly limits: PipelineLimits;
  readonly reader: StoreReader;
  readonly writer: StoreWriter;
  readonly synthesesInFlight: InFlightSyntheses;
  readonly isUpgraded: () => boolean;
  readonly onStored: (audio: Pick<Rendition, "hash" | "recipe">) => void;
}

/** Finds audio in memory, in the store, or in a synthesis that callers share. */
export class Lookup {
  readonly #parts: LookupParts;
  readonly #read: ReadAudio;
  readonly #deleted = new LRUCache<string, true>({ maxSize: maxDeleted, sizeCalculation: () => 1 });

  constructor(parts: LookupParts) {
    this.#parts = parts;
    this.#read = this.#sharedReads(parts.limits.inFlight);
  }

  cached(name: AudioName): AudioContent | undefined {
    return this.#parts.cache.get(name) ?? this.#parts.writer.pending(name);
  }

  /**
   * Audio without the marks that belong to it counts as absent: the audio is made again, with its
   * marks.
   */
  async fromStore(
    { recipe, name, hasMarks }: Rendition,
    signal: AbortSignal,
  ): Promise<AudioContent | undefined> {
    const audio = orUndefined(this.#read(name, signal, recipe));
    if (!hasMarks || this.cached(marksName(name))) return await audio;
    const read = orUndefined(this.#read(marksName(name), signal));
    const [content, marks] = await Promise.all([audio, read]);
    return marks && content;
  }

  /** Does what `fromStore` does, without reading the audio. */
  async statStored({ name, hasMarks }: Rendition, signal: AbortSignal): Promise<AudioInfo | undefined> {
    const { reader } = this.#parts;
    const needsMarks = hasMarks && !this.cached(marksName(name));
    const [audio, marks] = await Promise.all([
      orUndefined(reader.stat(name, signal)),
      needsMarks ? orUndefined(reader.stat(marksName(name), signal)) : true,
    ]);
    return marks ? audio : undefined;
  }

  audioFromStore(name: AudioName, signal: AbortSignal): Promise<AudioContent | undefined> {
    return orUnavailable(this.#read(name, signal));
  }

  /** Reads audio, and synthesizes it first if there is none. */
  async obtain<T>(
    rendition: Rendition,
    wanted: Wanted,
    signal: AbortSignal,
    read: (audio: SharedStream) => Promise<T>,
  ): Promise<{ readonly got: T; readonly source: AudioSource }> {
    const { audio, source } = await this.#locate(rendition, wanted, signal);
    const got = await read(audio);
    const isStored = source === "miss" && this.#parts.synthesesInFlight.cameFromStore(audio);
    return { got, source: isStored ? "store" : source };
  }

  async #locate(rendition: Rendition, wanted: Wanted, signal: AbortSignal): Promise<Located> {
    const { synthesesInFlight } = this.#parts;
    const { name } = rendition;
    signal.throwIfAborted();
    const inMemory = this.cached(name);
    if (inMemory) return { source: "memory", audio: complete(inMemory) };
    if (!synthesesInFlight.has(name)) {
      const stored = await this.fromStore(rendition, signal);
      if (stored) return { source: "store", audio: complete(stored) };
    }
    const running = synthesesInFlight.join(name, wanted);
    if (running) return { source: "coalesced", audio: running };
    const finished = this.cached(name);
    if (finished) return { source: "memory", audio: complete(finished) };
    return { source: "miss", audio: synthesesInFlight.begin(rendition, wanted) };
  }

  /**
   * Called when a hash was deleted. Audio that is found under its former name is then removed, not
   * used.
   */
  forget(hash: string): void {
    this.#deleted.set(hash, true);
  }

  /**
   * Reads audio that was paid for before names changed. Moves it to its new name, unless instances
   * may still run that would not find it there.
   */
  async #former(name: AudioName, recipe: Recipe, signal: AbortSignal): Promise<StoredAudio | undefined> {
    const { store, reader, writer, isUpgraded, onStored } = this.#parts;
    const hash = hashInName(name) ?? "";
    const former = legacyName(recipe);
    const stored = former === undefined ? undefined : await reader.read(former, signal);
    if (former === undefined || stored === undefined) return undefined;
    if (this.#deleted.has(hash)) {
      await store.remove(hashInName(former) ?? "");
      return undefined;
    }
    if (isUpgraded()) {
      writer.put(name, stored, { former });
      onStored({ hash, recipe });
    }
    return stored;
  }

  /** Reads at most `max` objects at once. Concurrent calls for the same object share one read. */
  #sharedReads(max: number): ReadAudio {
    const { cache, reader } = this.#parts;
    const reads = createSingleFlight<StoredAudio | undefined>({ max, full: tooManyInProgress });
    return async (name, signal, recipe) => {
      const read = async (shared: AbortSignal): Promise<StoredAudio | undefined> => {
        const forgotten = cache.forgotten();
        const stored =
          (await reader.read(name, shared)) ?? (recipe && (await this.#former(name, recipe, shared)));
        if (stored && cache.forgotten() === forgotten) cache.set(name, stored, stored.usedAt);
        return stored;
      };
      return (await reads.run(name, read, signal)).value;
    };
  }
}

/** Reads an object. If a recipe is given, also looks for the object under its former name. */
type ReadAudio = (name: AudioName, signal: AbortSignal, recipe?: Recipe) => Promise<StoredAudio | undefined>;

interface Located {
  readonly source: AudioSource;
  readonly audio: SharedStream;
}

const complete = (audio: AudioContent): SharedStream => ({
  readAll: async () => audio,
  read: async () => inChunks(audio.bytes),
  memory: audio.bytes.buffer,
});

/** An unavailable store counts as empty, so that it does not prevent a synthesis. */
export const orUndefined = <T>(read: Promise<T | undefined>): Promise<T | undefined> =>
  read.catch((error: unknown) => {
    if (error instanceof AudioStoreUnavailable) return undefined;
    throw error;
  });

/** Without a response from the store, it is unknown whether the object exists. */
export const orUnavailable = <T>(read: Promise<T>): Promise<T> =>
  read.catch((error: unknown) => {
    if (!(error instanceof AudioStoreUnavailable)) throw error;
    throw new Unavailable("The audio store cannot be read.", 5, { cause: error });
  });
