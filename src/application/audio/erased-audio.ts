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

/** Requests in progress record what they serve within this time after the audio is made. */
const rememberedMs = 15 * 60_000;
/** The erasure itself deletes and counts what it finds, meanwhile. */
const erasureMs = 10_000;
const afterFailures = afterErrors((error) => error instanceof Unavailable, {
  firstMs: 1_000,
  maxMs: 60_000,
});

export type ErasedAudio = ReturnType<typeof createErasedAudio>;

/**
 * Deletes the private audio that this process makes while its website is erased. The erasure finds
 * only what was recorded as served before it: a request that was in progress then may store and
 * record its audio later.
 */
export const createErasedAudio = ({ deleteAudio, isErased, time, onError }: ErasedAudioOptions) => {
  /** The private audio of the last minutes, the oldest first. */
  const made = new Map<string, { readonly websiteId: string; readonly at: number }>();
  /** The views may show these erasures later. */
  const erased = new Set<string>();
  const deletions = new Set<Promise<void>>();
  const closed = new AbortController();

  const deleteUntilDone = async (hash: string): Promise<void> => {
    made.delete(hash);
    const { signal } = closed;
    try {
      await retry({ time, delayAfter: afterFailures, signal }, () => deleteAudio(hash, { actor: "system" }));
    } catch (error) {
      onError(`the audio ${hash} of an erased website could not be deleted`, error);
    }
  };
  const deleteMadeBefore = async (websiteId: string): Promise<void> => {
    await sleep(erasureMs, { time, signal: closed.signal }).catch(() => {});
    for (const [hash, one] of made) if (one.websiteId === websiteId) await deleteUntilDone(hash);
  };
  const start = (deletion: Promise<void>): void => {
    deletions.add(deletion);
    void deletion.then(() => deletions.delete(deletion));
  };

  return {
    /** Call it when audio is made. */
    noteMade: ({ hash, recipe: { websiteId } }: Rendition): void => {
      if (websiteId === undefined) return;
      if (erased.has(websiteId) || isErased(websiteId)) {
        start(deleteUntilDone(hash));
        return;
      }
      const now = time.now();
      made.delete(hash);
      made.set(hash, { websiteId, at: now });
      for (const [oldest, { at }] of made) {
        if (now - at <= rememberedMs) break;
        made.delete(oldest);
      }
    },
    /** Call it when the event log says that a website is erased. */
    noteErased: (websiteId: string): void => {
      if (erased.has(websiteId)) return;
      erased.add(websiteId);
      start(deleteMadeBefore(websiteId));
    },
    /** Call it when audio was deleted. */
    noteDeleted: (hash: string): void => void made.delete(hash),
    /** Does at once what is to be done. Resolves when no deletion is in progress. */
    close: async (): Promise<void> => {
      closed.abort(new Error("the service stopped: erase the website again"));
      await Promise.all(deletions);
    },
  };
};
