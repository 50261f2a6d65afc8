import pLimit from "p-limit";
import { backgroundTime } from "../../async/time.ts";
import { createCdnPurge } from "../../audio/cdn-purge.ts";
import { scheduleLegacyRemoval } from "../../audio/legacy/legacy-removal.ts";
import type { UseReports } from "../../audio/pipeline/memory-cache.ts";
import type { Pipeline } from "../../audio/pipeline/pipeline.ts";
import { createRetention, type RetentionStats, useIntervalMs } from "../../audio/retention/retention.ts";
import { scheduleRetention } from "../../audio/retention/retention-schedule.ts";
import type { AudioStore } from "../../audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../audio/store/filesystem/filesystem-audio-store.ts";
import { type Settings, withSettingName } from "../../settings/read-settings.ts";
import type { Core, Runtime } from "../core.ts";
import { makePrivateDirectory } from "../private-directory.ts";

/**
 * The S3 client is large: it is imported only where it is configured.
 * @throws {BadSetting}
 */
export const openAudioStore = (settings: Settings, warn: (message: string) => void): Promise<AudioStore> => {
  const { audioStore } = settings;
  const open = async (): Promise<AudioStore> => {
    if (audioStore.kind === "s3") {
      const { openS3AudioStore } = await import("../../audio/store/s3/s3-audio-store.ts");
      return await openS3AudioStore({ ...audioStore, warn });
    }
    await makePrivateDirectory(audioStore.path);
    return await openFilesystemAudioStore(audioStore);
  };
  return withSettingName("AUDIO_STORE", open());
};

const reportsAtOnce = 2;

/** Tells the store which objects are used. A lost report only makes an object look older. */
export const composeUseReports = (
  { audioRetention }: Settings,
  store: AudioStore,
): UseReports | undefined => {
  if (!audioRetention) return undefined;
  const limit = pLimit(reportsAtOnce);
  return {
    intervalMs: useIntervalMs(audioRetention),
    report: (name) => void limit(() => store.touch(name)).catch(() => {}),
  };
};

const hourMs = 60 * 60_000;

/**
 * Removes unused audio in the background, if `AUDIO_RETENTION` is set. Without it, a folder is only
 * measured, because listing a bucket costs money. Returns the counts.
 */
export const composeRetention = (
  { settings, log, clock, resources, shared }: Runtime,
  { requireMeasuredClock }: Pick<Core, "requireMeasuredClock">,
  store: AudioStore,
  isInUse: (name: string) => boolean,
): (() => RetentionStats) => {
  const { audioRetention: policy } = settings;
  const isListed = policy !== undefined || settings.audioStore.kind === "file";
  if (!isListed || !shared.isFirst)
    return () => ({ removedObjects: 0, removedBytes: 0, keptBytes: undefined });
  const options = { store, policy: policy ?? {}, isInUse, log, clock, requireMeasuredClock };
  const retention = createRetention(options);
  const intervalMs = policy ? hourMs : 24 * hourMs;
  const isMeasuredFirst = settings.audioStore.kind === "file";
  const schedule = { retention, intervalMs, isMeasuredFirst, time: backgroundTime, random: Math.random, log };
  resources.defer(scheduleRetention(schedule));
  return retention.stats;
};

/** Deletes public audio under the names of earlier versions in the background. */
export const composeLegacyRemoval = (
  { settings, log, clock, resources }: Runtime,
  { requireMeasuredClock }: Pick<Core, "requireMeasuredClock">,
  { audioStore: store, pipeline: { forget } }: { audioStore: AudioStore; pipeline: Pick<Pipeline, "forget"> },
): void => {
  const purge = settings.purge && createCdnPurge(settings.purge);
  const until = settings.audioLegacyUntil;
  const options = { store, purge, forget, until, log, clock, requireMeasuredClock };
  resources.defer(scheduleLegacyRemoval({ ...options, time: backgroundTime }));
};
