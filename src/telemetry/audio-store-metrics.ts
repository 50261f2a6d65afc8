import { storeSeconds } from "./buckets.ts";
import { counter, gauge, histogram } from "./metric-definition.ts";

/** Metrics of the audio store, and of the disks. */
export const audioStoreMetrics = {
  audioStoreDuration: histogram(
    "voxledger.audio_store.operation.duration",
    "s",
    "Audio store operations by outcome: found, absent, stored, failed, abandoned.",
    { attributes: ["operation", "outcome"], bounds: storeSeconds },
  ),
  pendingObjects: gauge(
    "voxledger.audio_store.pending.objects",
    "{object}",
    "Audio objects that wait to be written.",
    { read: ({ pipeline }) => pipeline().writes.pendingObjects },
  ),
  pendingBytes: gauge(
    "voxledger.audio_store.pending.size",
    "By",
    "Memory used by audio objects that wait to be written.",
    { read: ({ pipeline }) => pipeline().writes.pendingBytes },
  ),
  lostObjects: counter(
    "voxledger.audio_store.lost",
    "{object}",
    "Audio objects that were not written. They are synthesized again on request.",
    { read: ({ pipeline }) => pipeline().writes.lost },
  ),
  storeFull: gauge(
    "voxledger.audio_store.full",
    "{store}",
    "1 while the audio store has no space: new audio is served but not stored.",
    { read: ({ pipeline }) => Number(pipeline().writes.isFull), combined: "max" },
  ),
  audioSize: gauge("voxledger.audio_store.size", "By", "Size of the stored audio when it was last listed.", {
    read: ({ retention }) => retention().keptBytes,
    combined: "max",
  }),
  diskFree: gauge("voxledger.disk.free", "By", "Free space on the disk of a folder: log, audio.", {
    attributes: ["folder"],
    combined: "min",
  }),
  writtenBytes: counter(
    "voxledger.audio_store.written.size",
    "By",
    "Size of the audio objects that were added to the store.",
    { read: ({ pipeline }) => pipeline().writes.writtenBytes },
  ),
  removedObjects: counter(
    "voxledger.audio_store.removed.objects",
    "{object}",
    "Audio objects that retention has removed.",
    { read: ({ retention }) => retention().removedObjects },
  ),
  removedBytes: counter("voxledger.audio_store.removed.size", "By", "Size of the removed audio objects.", {
    read: ({ retention }) => retention().removedBytes,
  }),
  writeRetries: counter("voxledger.audio_store.retries", "{retry}", "Retried writes to the audio store.", {
    read: ({ pipeline }) => pipeline().writes.retried,
  }),
  readsSuspended: gauge(
    "voxledger.audio_store.reads_suspended",
    "{store}",
    "1 while reads from the audio store are suspended after failures.",
    { read: ({ pipeline }) => Number(pipeline().storeReads === "open"), combined: "max" },
  ),
};
