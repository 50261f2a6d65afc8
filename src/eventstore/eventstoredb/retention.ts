import { setTimeout as delay } from "node:timers/promises";
import { EventStoreUnavailable, type Retention, readEvent, WrongExpectedRevision } from "../event-store.ts";
import { uuidv7 } from "../uuid.ts";
import type { Append } from "./appender.ts";
import { toClientEvents } from "./event-mapping.ts";
import type { LogReader } from "./log-reader.ts";

/**
 * The server's names for the limits, and `$tb` (truncate before): the first revision that is not
 * hidden.
 */
interface StreamMetadata {
  readonly $maxCount?: number;
  readonly $maxAge?: number;
  readonly $tb?: number;
  readonly [other: string]: unknown;
}

/** In all longer than the 200 ms that another instance's metadata event may take to be indexed. */
const retryDelaysMs = [10, 20, 40, 80, 160, 320];

/**
 * Writes the limits into the stream's metadata and keeps its other members. Hidden events stay
 * hidden, even if the limits are removed. Writes nothing if nothing changes.
 * @throws {EventStoreUnavailable}
 */
export const setRetention = async (
  append: Append,
  reader: LogReader,
  stream: string,
  retention: Retention,
): Promise<void> => {
  for (const delayMs of retryDelaysMs) {
    try {
      return await writeMetadata(append, reader, stream, retention);
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
    }
    await delay((delayMs * (1 + Math.random())) / 2);
  }
  throw new EventStoreUnavailable(`other processes keep changing the metadata of stream ${stream}`);
};

const writeMetadata = async (
  append: Append,
  reader: LogReader,
  stream: string,
  { maxCount, maxAgeSeconds }: Retention,
): Promise<void> => {
  const metadataStream = `$$${stream}`;
  const last = await readEvent(reader, metadataStream, { direction: "backwards" });
  const { $maxCount, $maxAge, ...others } = (last?.data ?? {}) as StreamMetadata;
  const wholeSeconds = maxAgeSeconds === undefined ? undefined : Math.ceil(maxAgeSeconds);
  if ($maxCount === maxCount && $maxAge === wholeSeconds) return;
  const firstVisible = (await readEvent(reader, stream))?.revision ?? 0;
  const truncateBefore = Math.max(others.$tb ?? 0, firstVisible);
  const data = {
    ...others,
    ...(maxCount !== undefined && { $maxCount: maxCount }),
    ...(wholeSeconds !== undefined && { $maxAge: wholeSeconds }),
    ...(truncateBefore > 0 && { $tb: truncateBefore }),
  };
  const { events } = toClientEvents([{ id: uuidv7(Date.now()), type: "$metadata", data, metadata: {} }]);
  await append(metadataStream, events, last?.revision ?? "none");
};
