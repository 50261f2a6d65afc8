import { withDeadline } from "../../async/deadline.ts";
import { afterErrors, retry } from "../../async/retry.ts";
import { sleep } from "../../async/sleep.ts";
import type { Time } from "../../async/time.ts";
import type { Rendition } from "../../audio/pipeline/pipeline.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { DeleteAudio } from "./delete-audio.ts";

interface ErasedAudioOptions {
  readonly deleteAudio: DeleteAudio;
  /** True if the website was erased, as far as the views of this process show. */
  readonly isErased: (websiteId: string) => boolean;
  readonly time: Time;
  readonly onError: (what: string, error: unknown) => void;
}

/** Requests in progress record what they serve within this time after the audio is stored. */
const recordedMs = 15 * 60_000;
/** The erasure itself deletes and counts what it finds, meanwhile. */
const erasureMs = 10_000;
const afterFailures = afterErrors((error) => error instanceof Unavailable, {
  firstMs: 1_000,
  maxMs: 60_000,
});

export type ErasedAudio = ReturnType<typeof createErasedAudio>;

/**
 * Deletes the private audio that this process stores while its website is erased. The erasure finds
 * only what was recorded as served before it: a request that was in progress then may store and
 * record its audio later.
 */
export const createErasedAudio = ({ deleteAudio, isErased, time, onError }: ErasedAudioOptions) => {
  /**
   * The websites of recent private audio, by hash, in two parts of which the older one is dropped
   * as a whole. Removing entries from the front of one map would slow down its iterations: V8 keeps
   * the places of removed entries until it rehashes.
   */
  let recent = new Map<string, string>();
  let earlier = new Map<string, string>();
  let recentSince = time.now();
  /** The views may show these erasures later. */
  const erased = new Set<string>();
  const deletions = new Set<Promise<void>>();
  const closed = new AbortController();

  const forget = (hash: string): void => {
    recent.delete(hash);
    earlier.delete(hash);
  };
  const deleteUntilDone = async (hash: string): Promise<void> => {
    forget(hash);
    const { signal } = closed;
    try {
      await retry({ time, delayAfter: afterFailures, signal }, () => deleteAudio(hash, { actor: "system" }));
    } catch (error) {
      onError(`the audio ${hash} of an erased website could not be deleted`, error);
    }
  };
  const deleteStoredBefore = async (websiteId: string): Promise<void> => {
    await sleep(erasureMs, { time, signal: closed.signal }).catch(() => {});
    for (const stored of [earlier, recent])
      for (const [hash, owner] of stored) if (owner === websiteId) await deleteUntilDone(hash);
  };
  const start = (deletion: Promise<void>): void => {
    deletions.add(deletion);
    void deletion.then(() => deletions.delete(deletion));
  };

  return {
    /** Call it when audio is about to be stored. */
    noteStored: ({ hash, recipe: { websiteId } }: Pick<Rendition, "hash" | "recipe">): void => {
      if (websiteId === undefined) return;
      if (erased.has(websiteId) || isErased(websiteId)) {
        start(deleteUntilDone(hash));
        return;
      }
      if (time.now() - recentSince > recordedMs) {
        [earlier, recent] = [recent, new Map()];
        recentSince = time.now();
      }
      recent.set(hash, websiteId);
    },
    /** Call it when the event log says that a website is erased. */
    noteErased: (websiteId: string): void => {
      if (erased.has(websiteId)) return;
      erased.add(websiteId);
      start(deleteStoredBefore(websiteId));
    },
    /** Call it when audio was deleted. */
    noteDeleted: forget,
    /** Does at once what is to be done, at most for `timeoutMs`. */
    close: async (timeoutMs: number): Promise<void> => {
      const stopped = new Error("the service stopped: erase the website again");
      closed.abort(stopped);
      try {
        await withDeadline({ time, ms: timeoutMs, onTimeout: () => stopped }, () => Promise.all(deletions));
      } catch (error) {
        onError("audio of an erased website could not be deleted in time", error);
      }
    },
  };
};
