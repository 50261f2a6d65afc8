import { afterErrors, retry } from "../../async/retry.ts";
import {
  EventStoreUnavailable,
  type Retention,
  readEvent,
  readLastEvent,
  WrongExpectedRevision,
} from "../event-store.ts";
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

const isConflict = (error: unknown): boolean => error instanceof WrongExpectedRevision;

/**
 * All delays together are longer than the 200 ms that another instance's metadata event may take to
 * be indexed.
 */
const afterConflicts = afterErrors(isConflict, { firstMs: 10, maxAttempts: 7 });

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
  try {
    await retry({ delayAfter: afterConflicts }, () => writeMetadata(append, reader, stream, retention));
  } catch (error) {
    if (!isConflict(error)) throw error;
    throw new EventStoreUnavailable(`other processes keep changing the metadata of stream ${stream}`);
  }
};

const writeMetadata = async (
  append: Append,
  reader: LogReader,
  stream: string,
  { maxCount, maxAgeSeconds }: Retention,
): Promise<void> => {
  const metadataStream = `$$${stream}`;
  const last = await readLastEvent(reader, metadataStream);
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
