import type { ReadOptions, RecordedEvent } from "../event-store.ts";
import { validateReadBounds } from "../event-validation.ts";
import type { ReaderProtocol, StreamPage, StreamRequest } from "./protocol.ts";
import type { WorkerLink } from "./worker-link.ts";

/**
 * Reads a stream in pages, the next one while the consumer is busy with this one.
 * @throws {RangeError} when `from` or `limit` is not a natural number.
 * @throws the signal's reason, so that a read that was cut never passes for a whole one.
 */
export async function* readStream(
  reader: WorkerLink<ReaderProtocol>,
  stream: string,
  { direction = "forwards", from, limit = Number.MAX_SAFE_INTEGER, signal }: ReadOptions,
): AsyncGenerator<RecordedEvent, void, undefined> {
  const backwards = direction === "backwards";
  const start = from ?? (backwards ? Number.MAX_SAFE_INTEGER : 0);
  validateReadBounds(start, limit);
  signal?.throwIfAborted();
  let next = readAhead(reader, { stream, backwards, from: start, limit });
  let left = limit;
  while (next !== undefined) {
    const page: StreamPage = await next;
    signal?.throwIfAborted();
    left -= page.count;
    next = page.end ? undefined : readAhead(reader, { stream, backwards, from: page.next, limit: left });
    for (const event of JSON.parse(page.json) as RecordedEvent[]) {
      signal?.throwIfAborted();
      yield event;
    }
  }
}

/** A page asked for ahead may fail while nobody looks; whoever awaits it is still told. */
const readAhead = (
  reader: WorkerLink<ReaderProtocol>,
  request: StreamRequest,
): Promise<StreamPage> | undefined => {
  if (request.limit === 0) return undefined;
  const page = reader.call("stream", request);
  page.catch(() => {});
  return page;
};
