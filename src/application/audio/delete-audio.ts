import { CdnUnavailable, type PurgeCdn } from "../../audio/cdn-purge.ts";
import { type AudioStore, AudioStoreUnavailable } from "../../audio/store/audio-store.ts";
import { Unavailable } from "../../domain/errors.ts";
import { type AudioEvent, audioDecider, audioStream } from "../../domain/synthesis/audio-events.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";
import type { CommandContext } from "../execute-command.ts";
import { checkHash } from "./audio-reports.ts";

export interface DeletedAudio {
  readonly hash: string;
  /** The names of the objects that were in the store. */
  readonly objects: readonly string[];
  /** True if it was purged from the CDN; false if none is configured. */
  readonly purged: boolean;
}

/**
 * Deletes audio and what belongs to it from the store, from memory and from the CDN, in this order,
 * because each is filled from those before it. Other instances remove it from memory when they read
 * the event that records the deletion. The deletion can be repeated.
 * @throws {NotFound} if it is not a hash
 * @throws {Unavailable} if a step failed: repeat it
 */
export type DeleteAudio = (hash: string, context: CommandContext) => Promise<DeletedAudio>;

export const createDeleteAudio =
  ({
    handler,
    openStore,
    forget,
    purge,
    clock,
    requireRightClock,
  }: {
    readonly handler: CommandHandler;
    readonly openStore: () => Promise<AudioStore>;
    /** Removes the audio from the memory of this process. */
    readonly forget: (hash: string) => void;
    /** Absent without a CDN. */
    readonly purge: PurgeCdn | undefined;
    readonly clock: () => EpochMs;
    /**
     * Called before anything is removed, because a deletion cannot be recorded with a wrong clock.
     * @throws {Unavailable}
     */
    readonly requireRightClock: () => void;
  }): DeleteAudio =>
  async (hash, { requestId, actor }) => {
    checkHash(hash);
    requireRightClock();
    const at = new Date(clock()).toISOString();
    const deleted = (): AudioEvent[] => [{ type: "AudioDeleted", data: { hash, at } }];
    const metadata = { actor, ...(requestId !== undefined && { correlationId: requestId }) };
    try {
      const store = await openStore();
      const objects = await store.remove(hash);
      await handler.execute(audioDecider, audioStream, deleted, metadata);
      forget(hash);
      // This process may have written the audio in the meantime.
      const written = await store.remove(hash);
      await purge?.(hash);
      return { hash, objects: [...new Set([...objects, ...written])], purged: purge !== undefined };
    } catch (error) {
      if (!(error instanceof AudioStoreUnavailable || error instanceof CdnUnavailable)) throw error;
      throw new Unavailable(`The deletion is incomplete, repeat it: ${error.message}`, 5, { cause: error });
    }
  };
