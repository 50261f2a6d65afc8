import { inTimeSlices } from "../../async/time-slices.ts";
import type { ReadOptions, RecordedEvent } from "../event-store.ts";
import { validateReadBounds } from "../event-validation.ts";
import type { ReaderProtocol, StreamPage, StreamRequest } from "./protocol.ts";
import type { WorkerClient } from "./worker-rpc.ts";

/**
 * Reads a stream in pages, and prefetches one page.
 * @throws {RangeError} if `fromInclusive` or `limit` is not a natural number
 * @throws the signal's reason, so that an aborted read is never taken for a complete one
 */
export async function* readStream(
  reader: WorkerClient<ReaderProtocol>,
  stream: string,
  { direction = "forwards", fromInclusive, limit = Number.MAX_SAFE_INTEGER, signal }: ReadOptions = {},
): AsyncGenerator<RecordedEvent, void, undefined> {
  const backwards = direction === "backwards";
  const start = fromInclusive ?? (backwards ? Number.MAX_SAFE_INTEGER : 0);
  validateReadBounds(start, limit);
  signal?.throwIfAborted();
  let next = prefetch(reader, { stream, backwards, fromInclusive: start, limit });
  let remaining = limit;
  while (next !== undefined) {
    const page: StreamPage = await next;
    signal?.throwIfAborted();
    remaining -= page.count;
    next = page.end
      ? undefined
      : prefetch(reader, { stream, backwards, fromInclusive: page.next, limit: remaining });
    for await (const event of inTimeSlices(JSON.parse(page.json) as RecordedEvent[])) {
      signal?.throwIfAborted();
      yield event;
    }
  }
}

const prefetch = (
  reader: WorkerClient<ReaderProtocol>,
  request: StreamRequest,
): Promise<StreamPage> | undefined => {
  if (request.limit === 0) return undefined;
  const page = reader.call("stream", request);
  page.catch(() => {}); // The page may fail before it is awaited.
  return page;
};
