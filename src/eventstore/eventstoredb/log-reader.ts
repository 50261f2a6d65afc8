import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  type ReadStreamOptions,
  type ResolvedEvent,
  START,
} from "@eventstore/db-client";
import { inTimeSlices } from "../../async/time-slices.ts";
import { EventStoreUnavailable, type ReadOptions, type RecordedEvent } from "../event-store.ts";
import { validateReadBounds } from "../event-validation.ts";
import { isInvalidPosition, isStreamNotFound, toUnavailable } from "./errors.ts";
import { fromClientPosition, toClientPosition, toRecordedEvent } from "./event-mapping.ts";
import { createPausedReader, type Source } from "./paused-reader.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

export type LogReader = ReturnType<typeof createLogReader>;

const pageSize = 256;

interface ClientRead extends Source {
  cancel(): Promise<void>;
}
type StartRead = (client: EventStoreDBClient) => ClientRead;

/** In a cluster, what a follower shows lags behind acknowledged appends, without a bound while it is cut off. */
export const fromLeader = { requiresLeader: true } as const;

export const createLogReader = (client: ReconnectingClient, timeoutMs: number) => {
  const pages = (startRead: StartRead, signal?: AbortSignal) =>
    readPages(client, timeoutMs, startRead, signal);

  async function* readStream(
    stream: string,
    { direction = "forwards", from, limit = Number.MAX_SAFE_INTEGER, signal }: ReadOptions = {},
  ): AsyncGenerator<RecordedEvent, void, undefined> {
    validateReadBounds(from ?? 0, limit);
    signal?.throwIfAborted();
    if (limit === 0) return void (await client.current());
    const isBackwards = direction === "backwards";
    const options: ReadStreamOptions = {
      ...fromLeader,
      direction: isBackwards ? BACKWARDS : FORWARDS,
      fromRevision: from === undefined ? (isBackwards ? END : START) : BigInt(from),
      maxCount: limit,
    };
    try {
      for await (const page of pages((current) => current.readStream(stream, options), signal)) {
        for await (const resolved of inTimeSlices(page)) {
          signal?.throwIfAborted();
          const event = toRecordedEvent(resolved);
          if (event) yield event;
        }
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!isStreamNotFound(error)) throw toUnavailable(error);
    }
  }

  const readFirst = async (startRead: StartRead): Promise<ResolvedEvent | undefined> => {
    try {
      for await (const [first] of pages(startRead)) return first;
    } catch (error) {
      if (!isInvalidPosition(error)) throw toUnavailable(error);
    }
    return undefined;
  };

  return {
    /** The port's `readStream`, without its rules for stream names. */
    readStream,
    /** The event at exactly this position, even if retention hides it from reads of its stream. */
    eventAt: async (position: number): Promise<RecordedEvent | undefined> => {
      if (!Number.isSafeInteger(position) || position < 0) return void (await client.current());
      const options = { ...fromLeader, fromPosition: toClientPosition(position), maxCount: 1 };
      const found = await readFirst((current) => current.readAll(options));
      const event = found && toRecordedEvent(found);
      return event?.position === position ? event : undefined;
    },
    /** The position of the log's last event; undefined for an empty log. */
    lastPosition: async (): Promise<number | undefined> => {
      const options = { ...fromLeader, direction: BACKWARDS, fromPosition: END, maxCount: 1 } as const;
      const last = await readFirst((current) => current.readAll(options));
      return last?.event?.position && fromClientPosition(last.event.position);
    },
  };
};

/** Fails if a page takes longer than the timeout. */
async function* readPages(
  client: ReconnectingClient,
  timeoutMs: number,
  startRead: StartRead,
  signal?: AbortSignal,
): AsyncGenerator<ResolvedEvent[], void, undefined> {
  const current = await client.current();
  const read = startRead(current);
  const reader = createPausedReader<ResolvedEvent>(read, signal);
  try {
    for (;;) {
      const state = await reader.wait(timeoutMs);
      signal?.throwIfAborted();
      if (state === "ended") return;
      if (state === "timeout") throw new EventStoreUnavailable("the event store gave no answer in time");
      const page = reader.read(pageSize);
      if (page.length > 0) yield page;
    }
  } catch (error) {
    if (!signal?.aborted) client.reportError(current, error);
    throw error;
  } finally {
    reader.close();
    read.cancel().catch(() => {});
  }
}
