import type { EpochMs } from "../../domain/time.ts";
import type { Log } from "../pipeline/log.ts";
import type { AudioFiles, AudioStore } from "../store/audio-store.ts";

/**
 * The rule that decides which audio the store keeps: the setting `AUDIO_RETENTION`. An empty one
 * keeps all audio.
 */
export interface RetentionPolicy {
  /** Audio that was not used for this long is removed. */
  readonly maxAgeMs?: number;
  /** Beyond this size the least recently used audio is removed. */
  readonly maxBytes?: number;
}

export interface RetentionOptions {
  readonly store: Pick<AudioStore, "list" | "remove">;
  readonly policy: RetentionPolicy;
  /** True while this process synthesizes or writes the object. */
  readonly isInUse: (name: string) => boolean;
  readonly log: Log;
  readonly clock: () => EpochMs;
  /** Rejects if this machine's clock may be wrong: all audio would look old. */
  readonly requireMeasuredClock: () => Promise<void>;
}

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
/** Audio that was used this recently is never removed: another instance may be serving it. */
const recentMs = hourMs;
const removalsAtOnce = 8;

/**
 * Returns how long an instance may wait until it reports a use: a quarter of the maximum age, and
 * at most a day.
 */
export const useIntervalMs = ({ maxAgeMs = Number.POSITIVE_INFINITY }: RetentionPolicy): number =>
  Math.min(dayMs, maxAgeMs / 4);

/**
 * Removes the audio that the policy does not keep. It reads the listing once or twice, and keeps
 * only a sum per hour in memory. Several instances may do this at the same time: they choose the
 * same audio.
 */
export const createRetention = ({
  store,
  policy,
  isInUse,
  log,
  clock,
  requireMeasuredClock,
}: RetentionOptions) => {
  const { maxAgeMs = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY } = policy;
  /** The removals since the start. */
  const removed = { removedObjects: 0, removedBytes: 0 };
  let keptBytes: number | undefined;

  /** Resolves with the bytes that are kept. */
  const remove = async ({ hash, names, bytes, usedAt }: AudioFiles): Promise<number> => {
    if (usedAt > clock() - recentMs || names.some(isInUse)) return bytes;
    const gone = await store.remove(hash, { unusedSince: usedAt });
    removed.removedObjects += gone.length;
    if (gone.length === 0) return bytes;
    removed.removedBytes += bytes;
    return 0;
  };

  /** Removes the listed audio of which `keep` is false. Resolves with the bytes that are kept. */
  const removeUnless = async (keep: (files: AudioFiles) => boolean, signal: AbortSignal): Promise<number> => {
    let kept = 0;
    let batch: AudioFiles[] = [];
    const removeBatch = async (): Promise<void> => {
      for (const bytes of await Promise.all(batch.map(remove))) kept += bytes;
      batch = [];
    };
    for await (const files of store.list(signal)) {
      if (keep(files)) kept += files.bytes;
      else batch.push(files);
      if (batch.length === removalsAtOnce) await removeBatch();
    }
    await removeBatch();
    return kept;
  };

  return {
    /**
     * Only measures the stored audio.
     * @throws {AudioStoreUnavailable}
     * @throws the signal's reason
     */
    measure: async (signal: AbortSignal): Promise<void> => {
      keptBytes = await removeUnless(() => true, signal);
    },
    /**
     * @throws {AudioStoreUnavailable}
     * @throws the error of `requireMeasuredClock`
     * @throws the signal's reason
     */
    runOnce: async (signal: AbortSignal): Promise<void> => {
      await requireMeasuredClock();
      const before = { ...removed };
      const usedSince = clock() - maxAgeMs;
      const hours = createHours();
      const isYoung = (files: AudioFiles): boolean => {
        if (files.usedAt < usedSince) return false;
        hours.add(files);
        return true;
      };
      const young = await removeUnless(isYoung, signal);
      const keep = hours.within(maxBytes);
      keptBytes = keep ? await removeUnless(keep, signal) : young;
      const objects = removed.removedObjects - before.removedObjects;
      const bytes = removed.removedBytes - before.removedBytes;
      if (objects > 0) log.info({ objects, bytes }, "Audio objects were removed from the store.");
    },
    /** `keptBytes`: the size of the stored audio after the last run. */
    stats: () => ({ ...removed, keptBytes }),
  };
};

export type Retention = ReturnType<typeof createRetention>;
export type RetentionStats = ReturnType<Retention["stats"]>;

/** Sums up the bytes of audio by the hour of its last use. */
const createHours = () => {
  const byHour = new Map<number, number>();
  const hourOf = ({ usedAt }: AudioFiles): number => Math.floor(usedAt / hourMs);

  return {
    add: (files: AudioFiles): void => {
      const hour = hourOf(files);
      byHour.set(hour, (byHour.get(hour) ?? 0) + files.bytes);
    },
    /**
     * Returns a function that decides, in the order of a listing, which audio fits into `maxBytes`:
     * all audio of the latest hours, and of one more hour the audio that is listed first. Returns
     * undefined if all audio fits.
     */
    within: (maxBytes: number): ((files: AudioFiles) => boolean) | undefined => {
      let room = maxBytes;
      for (const [hour, bytes] of [...byHour].sort(([a], [b]) => b - a)) {
        if (bytes <= room) {
          room -= bytes;
          continue;
        }
        return (files) => {
          if (hourOf(files) !== hour) return hourOf(files) > hour;
          if (files.bytes > room) return false;
          room -= files.bytes;
          return true;
        };
      }
      return undefined;
    },
  };
};
