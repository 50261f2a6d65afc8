import { count, type EventOf, object, optional, text, utcTime } from "./shape.ts";

/** The log as a whole. Stream `log`. */
export const logShapes = {
  /** Snapshots are stored, and seals signed, under this id. */
  LogBegun: { logId: text, at: utcTime },
  /**
   * The log has this format from here on. `version`: the first version of the service that writes
   * it.
   */
  LogFormatRecorded: { format: count, version: text, at: utcTime },
  /**
   * The log was restored from a backup that ended with this position. What was recorded later is
   * lost. `seal`: the note of the backup's newest seal.
   */
  LogRestored: { position: count, takenAt: utcTime, seal: optional(text), at: utcTime },
};
export type LogEvent = EventOf<typeof logShapes>;
export type LogRestored = Extract<LogEvent, { type: "LogRestored" }>;

export const logStream = "log";

/**
 * The format of a new log. It changes when an earlier version would misread the log, so that its
 * counts, proofs or responses would be wrong. 1: servings are in the accounts (`SynthesisServed` in
 * `usage-` streams). 2: servings are in journals. 3: archived journals may be missing.
 */
const logFormat = 2;
const formatWithoutJournals = 3;
/** The formats that this version reads. */
const knownFormats: readonly number[] = [logFormat, formatWithoutJournals];

/** Servings have this type in format 1. They are in the streams of accounts. */
export const servingOfFormat1 = "SynthesisServed";

export interface Log {
  readonly logId?: string;
  /** Undefined if the log does not state it. */
  readonly format?: number;
  /** The last restore. */
  readonly restored?: LogRestored["data"];
}

export const logDecider = {
  initial: (): Log => ({}),
  evolve: (log: Log, { type, data }: LogEvent): Log => {
    if (type === "LogBegun") return { ...log, logId: log.logId ?? data.logId };
    if (type === "LogFormatRecorded") return { ...log, format: data.format };
    return type === "LogRestored" ? { ...log, restored: data } : log;
  },
};

/** Gives the log an id and records its format, unless it has them. */
export const beginLog = (
  { logId, format }: Log,
  { newId, version, at }: { readonly newId: string; readonly version: string; readonly at: string },
): LogEvent[] => [
  ...(logId === undefined ? [{ type: "LogBegun", data: { logId: newId, at } } as const] : []),
  ...(format === undefined
    ? [{ type: "LogFormatRecorded", data: { format: logFormat, version, at } } as const]
    : []),
];

/** Makes versions refuse the log that take archived journals for lost when they are deleted. */
export const allowMissingJournals = (
  { format }: Log,
  { version, at }: { readonly version: string; readonly at: string },
): LogEvent[] =>
  (format ?? logFormat) >= formatWithoutJournals
    ? []
    : [{ type: "LogFormatRecorded", data: { format: formatWithoutJournals, version, at } }];

/** This version neither reads nor writes the log. The message says which version does. */
export class UnsupportedLogFormat extends Error {
  override readonly name = "UnsupportedLogFormat";
}

export const formatRefusal1 = (): UnsupportedLogFormat =>
  new UnsupportedLogFormat(
    "the log has format 1, whose servings this version does not count: the last version that reads it is commit 6e84a1e; this one begins a new log in another EVENT_STORE or under a STREAM_PREFIX",
  );

const isRecordedFormat = object(logShapes.LogFormatRecorded);

/**
 * Returns the reason why this version must not use the log, if the event of the stream `log` states
 * a format that this version does not know.
 */
export const formatRefusal = ({
  type,
  data,
}: {
  readonly type: unknown;
  readonly data: unknown;
}): UnsupportedLogFormat | undefined => {
  if (type !== "LogFormatRecorded") return undefined;
  if (!isRecordedFormat(data)) return new UnsupportedLogFormat("the log states a format that cannot be read");
  const { format, version } = data;
  if (knownFormats.includes(format)) return undefined;
  return new UnsupportedLogFormat(
    `the log has format ${format}, and this version reads the formats ${knownFormats.join(" and ")}: start Voxledger ${version} or a later version`,
  );
};
