import { setTimeout as delay } from "node:timers/promises";
import { EventStoreUnavailable, type Retention, WrongExpectedRevision } from "../event-store.ts";
import { uuidv7 } from "../uuid.ts";
import { type Appender, toAppendable } from "./appender.ts";
import type { LogReader } from "./log-reader.ts";

/** What the server calls the limits, and the first revision that is not hidden. */
interface StreamMetadata {
  readonly $maxCount?: number;
  readonly $maxAge?: number;
  readonly $tb?: number;
  readonly [other: string]: unknown;
}

/** Together longer than the 200 ms after which a metadata event that another instance has just written can be read. */
const retryDelaysMs = [10, 20, 40, 80, 160, 320];

/**
 * Sets the limits in the stream's metadata and keeps the rest of it. What is hidden now stays hidden, also when the limits
 * are lifted. Nothing is written where nothing changes.
 * @throws {EventStoreUnavailable}
 */
export const setRetention = async (
  appender: Appender,
  reader: LogReader,
  stream: string,
  retention: Retention,
): Promise<void> => {
  for (const delayMs of retryDelaysMs) {
    try {
      return await writeMetadata(appender, reader, stream, retention);
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
    }
    await delay((delayMs * (1 + Math.random())) / 2);
  }
  throw new EventStoreUnavailable(`the metadata of stream ${stream} is changed by others all the time`);
};

const writeMetadata = async (
  appender: Appender,
  reader: LogReader,
  stream: string,
  { maxCount, maxAgeSeconds }: Retention,
): Promise<void> => {
  const metastream = `$$${stream}`;
  const { revision, metadata } = await lastMetadata(reader, metastream);
  const { $maxCount, $maxAge, ...others } = metadata;
  // The server takes whole seconds.
  const wantedAge = maxAgeSeconds === undefined ? undefined : Math.ceil(maxAgeSeconds);
  if ($maxCount === maxCount && $maxAge === wantedAge) return;
  const hidden = Math.max(others.$tb ?? 0, await firstSeen(reader, stream));
  const data = {
    ...others,
    ...(maxCount !== undefined && { $maxCount: maxCount }),
    ...(wantedAge !== undefined && { $maxAge: wantedAge }),
    ...(hidden > 0 && { $tb: hidden }),
  };
  const { events } = toAppendable([{ id: uuidv7(Date.now()), type: "$metadata", data, metadata: {} }]);
  await appender.append(metastream, events, revision);
};

const lastMetadata = async (
  reader: LogReader,
  metastream: string,
): Promise<{ revision: number | "none"; metadata: StreamMetadata }> => {
  for await (const { revision, data } of reader.stream(metastream, { direction: "backwards", limit: 1 })) {
    return { revision, metadata: data as StreamMetadata };
  }
  return { revision: "none", metadata: {} };
};

const firstSeen = async (reader: LogReader, stream: string): Promise<number> => {
  for await (const { revision } of reader.stream(stream, { limit: 1 })) return revision;
  return 0;
};
