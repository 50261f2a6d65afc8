import { type AudioFiles, type AudioStore, DamagedAudio } from "../../audio/store/audio-store.ts";
import { type Deletions, isDeleted, type ListedAudio, sha256Of } from "./audio-list.ts";

/** What became of the audio of the service. */
export interface CopiedAudio {
  readonly objects: number;
  readonly bytes: number;
  /** How many were copied now. */
  readonly copied: number;
  /** How many copies were damaged, and were replaced. */
  readonly repaired: number;
  /** How many objects of the backup before are no longer in the store. */
  readonly gone: number;
  /** The names of objects that are damaged in the store, and have no copy. */
  readonly damaged: readonly string[];
}

interface CopyOptions {
  readonly signal: AbortSignal;
  /** The list of the backup before, in order. */
  readonly previous: AsyncIterable<ListedAudio>;
  readonly deletions: Deletions;
  /** True if the copies are read and compared with the list. Otherwise only their sizes are. */
  readonly verifies: boolean;
  /** Adds an object to the list of the new backup. */
  readonly list: (entry: ListedAudio) => Promise<unknown>;
}

const groupsAtOnce = 4;

/**
 * Copies the audio that `to` lacks or has damaged. Each object is verified when it is read.
 * @throws {AudioStoreUnavailable} {BadBackup}; the signal's reason
 */
export const copyAudio = async (
  from: AudioStore,
  to: AudioStore,
  { signal, previous, deletions, verifies, list }: CopyOptions,
): Promise<CopiedAudio> => {
  const counts = { objects: 0, bytes: 0, copied: 0, repaired: 0 };
  const damaged = new Set<string>();
  await using before = createCursor(previous);

  const isIntact = async ({ name, bytes, sha256 }: ListedAudio): Promise<boolean> => {
    if (!verifies) return (await intact(to.stat(name, signal)))?.size === bytes;
    const copy = await intact(to.get(name, signal));
    return copy !== undefined && sha256Of(copy.bytes) === sha256;
  };

  /** Returns "differs" if there is an intact copy with other bytes: its audio was made again. */
  const copy = async (name: string, usedAt: number, known: ListedAudio | undefined) => {
    const isKnown = known !== undefined && !isDeleted(deletions, known);
    if (isKnown && (await isIntact(known))) return { ...known, usedAt };
    const audio = await orDamaged(from.get(name, signal));
    if (audio === undefined) return undefined; // it was removed meanwhile
    if (audio === "damaged") {
      damaged.add(name);
      return undefined;
    }
    const existing = await to.put(name, audio);
    if (existing && !existing.bytes.equals(audio.bytes)) return "differs";
    if (!existing) counts.copied += 1;
    if (!existing && isKnown) counts.repaired += 1;
    return { name, bytes: audio.bytes.length, sha256: sha256Of(audio.bytes), usedAt };
  };

  const copyGroup = async ({ files, known }: Group): Promise<ListedAudio[]> => {
    const { hash, names, usedAt } = files;
    const copies = await Promise.all(names.map((name, at) => copy(name, usedAt, known[at])));
    if (copies.includes("differs")) {
      await to.remove(hash);
      return await copyGroup({ files, known: [] });
    }
    return copies.filter((entry) => typeof entry === "object");
  };

  const groups: Group[] = [];
  const copyNext = async (): Promise<void> => {
    const copied = await Promise.all(groups.splice(0).map(copyGroup));
    for (const entry of copied.flat()) {
      counts.objects += 1;
      counts.bytes += entry.bytes;
      await list(entry);
    }
  };
  for await (const files of from.list(signal)) {
    const known: (ListedAudio | undefined)[] = [];
    for (const name of files.names) known.push(await before.find(name));
    groups.push({ files, known });
    if (groups.length >= groupsAtOnce) await copyNext();
  }
  await copyNext();
  return { ...counts, damaged: [...damaged].sort(), gone: await before.countOthers() };
};

interface Group {
  readonly files: AudioFiles;
  /** What the list before has of each of its names. */
  readonly known: readonly (ListedAudio | undefined)[];
}

/** Finds names in a list. They must be asked for in the list's order. */
const createCursor = (entries: AsyncIterable<ListedAudio>) => {
  const iterator = entries[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<ListedAudio>> | undefined;
  let others = 0;
  return {
    find: async (name: string): Promise<ListedAudio | undefined> => {
      for (;;) {
        next ??= iterator.next();
        const { done, value } = await next;
        if (done || value.name > name) return undefined;
        next = undefined;
        if (value.name === name) return value;
        others += 1;
      }
    },
    /** Resolves with the number of entries that were not asked for. */
    countOthers: async (): Promise<number> => {
      for (;;) {
        const { done } = await (next ?? iterator.next());
        next = undefined;
        if (done) return others;
        others += 1;
      }
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await iterator.return?.();
    },
  };
};

/** What became of the audio of a backup. */
export interface RestoredAudio {
  /** How many objects the backup lists. */
  readonly objects: number;
  readonly restored: number;
  /** How many were deleted by an operator before the backup, and stay deleted. */
  readonly deleted: number;
  /** The names of objects that are listed, and are not in the backup. */
  readonly missing: readonly string[];
  /** The names of objects whose copies are damaged, and were not restored. */
  readonly damaged: readonly string[];
}

/**
 * Restores the audio that the list names, and no other. Each object is compared with the list.
 * @throws {AudioStoreUnavailable} {BadBackup}; the signal's reason
 */
export const restoreAudio = async (
  from: Pick<AudioStore, "get">,
  to: Pick<AudioStore, "put">,
  {
    signal,
    list,
    deletions,
  }: {
    readonly signal: AbortSignal;
    readonly list: AsyncIterable<ListedAudio>;
    readonly deletions: Deletions;
  },
): Promise<RestoredAudio> => {
  const counts = { objects: 0, restored: 0, deleted: 0 };
  const missing: string[] = [];
  const damaged: string[] = [];
  const restore = async ({ name, sha256 }: ListedAudio): Promise<void> => {
    const audio = await orDamaged(from.get(name, signal));
    if (audio === undefined) missing.push(name);
    else if (audio === "damaged" || sha256Of(audio.bytes) !== sha256) damaged.push(name);
    else {
      await to.put(name, audio);
      counts.restored += 1;
    }
  };
  const next: ListedAudio[] = [];
  const restoreNext = () => Promise.all(next.splice(0).map(restore));
  for await (const entry of list) {
    signal.throwIfAborted();
    counts.objects += 1;
    if (isDeleted(deletions, entry)) {
      counts.deleted += 1;
      continue;
    }
    next.push(entry);
    if (next.length >= groupsAtOnce) await restoreNext();
  }
  await restoreNext();
  return { ...counts, missing: missing.sort(), damaged: damaged.sort() };
};

/** Returns undefined for a damaged object. */
const intact = async <T>(read: Promise<T | undefined>): Promise<T | undefined> => {
  const found = await orDamaged(read);
  return found === "damaged" ? undefined : found;
};

const orDamaged = <T>(read: Promise<T>): Promise<T | "damaged"> =>
  read.catch((error: unknown) => {
    if (error instanceof DamagedAudio) return "damaged" as const;
    throw error;
  });
