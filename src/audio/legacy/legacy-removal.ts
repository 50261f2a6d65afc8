import { repeat } from "../../async/repeat.ts";
import type { Time } from "../../async/time.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { PurgeCdn } from "../cdn-purge.ts";
import { legacyFolder } from "../pipeline/legacy-names.ts";
import { type Log, loggableMessage } from "../pipeline/log.ts";
import type { AudioStore } from "../store/audio-store.ts";

export interface LegacyRemovalOptions {
  readonly store: Pick<AudioStore, "list" | "remove">;
  /** Undefined without a CDN. */
  readonly purge: PurgeCdn | undefined;
  /** Removes audio from the memory of this process. */
  readonly forget: (hash: string) => void;
  /** Until this time the addresses of version 0.1 stay valid, and nothing is removed. */
  readonly until: EpochMs;
  readonly log: Log;
  readonly clock: () => EpochMs;
  /** Rejects if this machine's clock may be wrong. */
  readonly requireMeasuredClock: () => Promise<void>;
}

const removalsAtOnce = 8;

/**
 * Deletes the public audio and marks that earlier versions stored under names that anybody can
 * compute: first from the CDN, then from the store. No instance of this version serves them any
 * more, so a cache cannot get them again. Whatever could not be purged stays in the store, where
 * the next run lists it again. A run can be interrupted and repeated, by any number of instances.
 * Resolves with the number of removed hashes.
 * @throws {AudioStoreUnavailable} {CdnUnavailable}
 * @throws the signal's reason
 */
export const removeLegacyAudio = async (
  { store, purge, forget, log }: Pick<LegacyRemovalOptions, "store" | "purge" | "forget" | "log">,
  signal: AbortSignal,
): Promise<number> => {
  const remove = async (hash: string): Promise<void> => {
    forget(hash);
    await purge?.(hash);
    await store.remove(hash);
  };
  let removed = 0;
  let batch: string[] = [];
  const removeBatch = async (): Promise<void> => {
    await Promise.all(batch.map(remove));
    removed += batch.length;
    batch = [];
  };
  for await (const { hash } of store.list(signal, legacyFolder)) {
    batch.push(hash);
    if (batch.length === removalsAtOnce) await removeBatch();
  }
  await removeBatch();
  if (removed > 0) log.info({ removed }, "Public audio under names of version 0.1 was deleted.");
  return removed;
};

const dayMs = 24 * 60 * 60_000;
const retryMs = 60 * 60_000;

/**
 * Deletes this audio now, or when its addresses are no longer valid, and then once a day. Ends
 * after a run that finds nothing, but not on the first day, on which instances of an earlier
 * version may still store such audio.
 */
export const scheduleLegacyRemoval = ({
  time,
  ...options
}: LegacyRemovalOptions & { readonly time: Time }): (() => Promise<void>) => {
  const { until, clock, requireMeasuredClock, log } = options;
  const startedAt = time.now();
  return repeat({
    task: async (signal) => {
      if (clock() < until) return Math.min(dayMs, until - clock());
      if (until > 0) await requireMeasuredClock();
      const removed = await removeLegacyAudio(options, signal);
      return removed === 0 && time.now() >= startedAt + dayMs ? undefined : dayMs;
    },
    firstMs: 0,
    retryMs,
    time,
    onError: (error) =>
      log.warn({ error: loggableMessage(error) }, "Public audio of version 0.1 could not be deleted."),
  });
};
