import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Settings } from "../settings/read-settings.ts";
import type { MetricSources } from "../telemetry/telemetry.ts";

/** Measures the disks of the log and of the audio, as far as they are disks of this machine. */
export const measureDiskUse = ({
  eventStore,
  audioStore,
}: Pick<Settings, "eventStore" | "audioStore">): Pick<MetricSources, "diskFree" | "logBytes"> => {
  const logPath = eventStore.kind === "sqlite" ? eventStore.path : undefined;
  const folders = [
    ...(logPath === undefined ? [] : [{ folder: "log", path: dirname(logPath) }]),
    ...(audioStore.kind === "file" ? [{ folder: "audio", path: audioStore.path }] : []),
  ];
  return {
    diskFree: async () => {
      const found = folders.map(async ({ folder, path }) => {
        const disk = await statfs(path).catch(() => undefined);
        return disk ? [{ folder, bytes: disk.bavail * disk.bsize }] : [];
      });
      return (await Promise.all(found)).flat();
    },
    logBytes: async () => {
      if (logPath === undefined) return undefined;
      const sizes = [logPath, `${logPath}-wal`].map((path) =>
        stat(path).then(
          ({ size }) => size,
          () => 0,
        ),
      );
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    },
  };
};
