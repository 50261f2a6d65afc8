import { createSingleFlight } from "../../async/single-flight.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { Provenance } from "../../domain/ledger/serving.ts";
import { marksName } from "../../domain/synthesis/marks.ts";
import type { Rendition } from "../formats/sound.ts";
import {
  type AudioObject,
  AudioStoreUnavailable,
  type ObjectName,
  type StoredObject,
} from "../store/audio-store.ts";
import { type InFlightSyntheses, tooMuch, type Wanted } from "./in-flight-syntheses.ts";
import type { MemoryCache } from "./memory-cache.ts";
import type { PipelineLimits } from "./pipeline-limits.ts";
import { inChunks, type SharedStream } from "./shared-stream.ts";
import type { StoreReader } from "./store-reader.ts";
import type { StoreWriter } from "./store-writer.ts";

interface LookupParts {
  readonly cache: MemoryCache;
  readonly limits: PipelineLimits;
  readonly reader: StoreReader;
  readonly writer: StoreWriter;
  readonly synthesesInFlight: InFlightSyntheses;
}

/** From memory, the store, or the synthesis that is shared with other callers. */
export const createLookup = ({ cache, limits, reader, writer, synthesesInFlight }: LookupParts) => {
  const createReads = (max: number) => {
    const reads = createSingleFlight<StoredObject | undefined>({ max, full: tooMuch });
    const read = async (name: ObjectName, signal: AbortSignal): Promise<StoredObject | undefined> => {
      const forgotten = cache.forgotten();
      const stored = await reader.read(name, signal);
      if (stored && cache.forgotten() === forgotten) cache.set(name, stored, stored.usedAt);
      return stored;
    };
    return async (name: ObjectName, signal: AbortSignal): Promise<StoredObject | undefined> =>
      (await reads.run(name, (shared) => read(name, shared), signal)).value;
  };
  const readSound = createReads(limits.inFlight);
  const readObject = createReads(limits.objectReads);
  const cached = (name: ObjectName): AudioObject | undefined => cache.get(name) ?? writer.pending(name);
  /** A sound without the marks that belong to it counts as absent: it is made again, with them. */
  const fromStore = async (
    { name, hasMarks }: Rendition,
    signal: AbortSignal,
  ): Promise<AudioObject | undefined> => {
    const sound = orUndefined(readSound(name, signal));
    if (!hasMarks || cached(marksName(name))) return await sound;
    const [object, marks] = await Promise.all([sound, orUndefined(readSound(marksName(name), signal))]);
    return marks && object;
  };

  return {
    cached,
    fromStore,
    objectFromStore: (name: ObjectName, signal: AbortSignal) => orUnavailable(readObject(name, signal)),
    locate: async (rendition: Rendition, wanted: Wanted, signal: AbortSignal): Promise<Located> => {
      const { name } = rendition;
      signal.throwIfAborted();
      const inMemory = cached(name);
      if (inMemory) return { provenance: "memory", sound: complete(inMemory) };
      if (!synthesesInFlight.has(name)) {
        const stored = await fromStore(rendition, signal);
        if (stored) return { provenance: "store", sound: complete(stored) };
      }
      const running = synthesesInFlight.join(name, wanted.apiKey);
      if (running) return { provenance: "coalesced", sound: running };
      const finished = cached(name);
      if (finished) return { provenance: "memory", sound: complete(finished) };
      return { provenance: "miss", sound: synthesesInFlight.begin(rendition, wanted) };
    },
  };
};

interface Located {
  readonly provenance: Provenance;
  readonly sound: SharedStream;
}

const complete = (object: AudioObject): SharedStream => ({
  readAll: async () => object,
  read: async () => inChunks(object.bytes),
  memory: object.bytes.buffer,
});

/** An unavailable store must not prevent a synthesis: it counts as empty. */
export const orUndefined = <T>(read: Promise<T | undefined>): Promise<T | undefined> =>
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
