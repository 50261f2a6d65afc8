import { type AudioFiles, type AudioStore, DamagedAudio } from "../../audio/store/audio-store.ts";

/** How many objects were found, and what became of them. */
export interface CopiedAudio {
  readonly objects: number;
  readonly bytes: number;
  /** Objects that the other store did not have. */
  readonly copied: number;
  /** Objects that are damaged, and therefore were not copied. */
  readonly damaged: number;
  /** Objects that were left out as `isExcluded` says. They do not count as found. */
  readonly excluded: number;
}

interface CopyOptions {
  readonly signal: AbortSignal;
  /** Returns true for audio that is not copied. */
  readonly isExcluded?: (files: AudioFiles) => boolean;
}

const copiesAtOnce = 4;

/**
 * Copies the audio that `to` lacks. Each object is verified when it is read.
 * @throws {AudioStoreUnavailable}; the signal's reason
 */
export const copyAudio = async (
  from: AudioStore,
  to: AudioStore,
  { signal, isExcluded = () => false }: CopyOptions,
): Promise<CopiedAudio> => {
  const found = { objects: 0, bytes: 0, copied: 0, damaged: 0, excluded: 0 };
  const next: string[] = [];
  const copy = async (name: string): Promise<void> => {
    if (await exists(to, name, signal)) return;
    const audio = await read(from, name, signal);
    if (audio === "damaged") found.damaged += 1;
    else if (audio) {
      await to.put(name, audio);
      found.copied += 1;
    }
  };
  const copyNext = () => Promise.all(next.splice(0).map(copy));
  for await (const files of from.list(signal)) {
    if (isExcluded(files)) {
      found.excluded += files.names.length;
      continue;
    }
    found.objects += files.names.length;
    found.bytes += files.bytes;
    next.push(...files.names);
    if (next.length >= copiesAtOnce) await copyNext();
  }
  await copyNext();
  return found;
};

/** A damaged copy counts as missing: it is replaced. */
const exists = async (store: AudioStore, name: string, signal: AbortSignal): Promise<boolean> => {
  const info = await orDamaged(store.stat(name, signal));
  return info !== undefined && info !== "damaged";
};

const read = (store: AudioStore, name: string, signal: AbortSignal) => orDamaged(store.get(name, signal));

const orDamaged = <T>(read: Promise<T>): Promise<T | "damaged"> =>
  read.catch((error: unknown) => {
    if (error instanceof DamagedAudio) return "damaged" as const;
    throw error;
  });
