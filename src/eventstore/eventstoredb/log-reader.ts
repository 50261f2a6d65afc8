import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  type ReadRevision,
  type ReadStreamOptions,
  type ResolvedEvent,
  START,
} from "@eventstore/db-client";
import { EventStoreUnavailable, type ReadOptions, type RecordedEvent } from "../event-store.ts";
import { validateReadBounds } from "../event-validation.ts";
import { isInvalidPosition, isStreamNotFound, toUnavailable } from "./errors.ts";
import { fromPosition, positionOf, toRecorded } from "./event-mapping.ts";
import { createPausedReader, type Source } from "./paused-reader.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

export interface LogReader {
  /** As the port's `readStream`, for any stream whatever its name. */
  stream(stream: string, options?: ReadOptions): AsyncGenerator<RecordedEvent, void, undefined>;
  /** The event at exactly this position, also one that retention hides from reads of its stream. */
  at(position: number): Promise<RecordedEvent | undefined>;
  /** The position of the log's last event, whatever its stream; undefined while there is none. */
  head(): Promise<number | undefined>;
}

const pageSize = 256;

interface ClientsRead extends Source {
  cancel(): Promise<void>;
}

export const openLogReader = (kept: ReconnectingClient, timeoutMs: number): LogReader => {
  /** Reads what the client was asked for, in pages; waits for each no longer than the timeout. */
  async function* pages(
    start: (client: EventStoreDBClient) => ClientsRead,
    signal?: AbortSignal,
  ): AsyncGenerator<ResolvedEvent[], void, undefined> {
    const client = await kept.current();
    const read = start(client);
    const inbox = createPausedReader<ResolvedEvent>(read, signal);
    try {
      for (;;) {
        const there = await inbox.more(timeoutMs);
        signal?.throwIfAborted();
        if (there === "ended") return;
        if (there === "late") throw new EventStoreUnavailable("the event store gave no answer in time");
        const page = inbox.take(pageSize);
        if (page.length > 0) yield page;
      }
    } catch (error) {
      if (signal?.aborted) throw error;
      kept.reportError(client, error);
      throw error;
    } finally {
      inbox.close();
      read.cancel().catch(() => {});
    }
  }

  async function* stream(
    name: string,
    { direction = "forwards", from, limit = Number.MAX_SAFE_INTEGER, signal }: ReadOptions = {},
  ): AsyncGenerator<RecordedEvent, void, undefined> {
    const backwards = direction === "backwards";
    validateReadBounds(from ?? 0, limit);
    signal?.throwIfAborted();
    const fromRevision: ReadRevision = from === undefined ? (backwards ? END : START) : BigInt(from);
    const options: ReadStreamOptions = {
      direction: backwards ? BACKWARDS : FORWARDS,
      fromRevision,
      maxCount: limit,
    };
    if (limit === 0) return void (await kept.current());
    try {
      for await (const page of pages((client) => client.readStream(name, options), signal)) {
        for (const resolved of page) {
          signal?.throwIfAborted();
          const event = toRecorded(resolved);
          if (event) yield event;
        }
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!isStreamNotFound(error)) throw toUnavailable(error);
    }
  }

  const firstOf = async (start: Parameters<typeof pages>[0]): Promise<ResolvedEvent | undefined> => {
    try {
      for await (const [first] of pages(start)) return first;
    } catch (error) {
      if (!isInvalidPosition(error)) throw toUnavailable(error);
    }
    return undefined;
  };

  return {
    stream,
    at: async (position) => {
      if (!Number.isSafeInteger(position) || position < 0) return void (await kept.current());
      const found = await firstOf((client) =>
        client.readAll({ fromPosition: fromPosition(position), maxCount: 1 }),
      );
      const event = found && toRecorded(found);
      return event?.position === position ? event : undefined;
    },
    head: async () => {
      const last = await firstOf((client) =>
        client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }),
      );
      return last?.event?.position && positionOf(last.event.position);
    },
  };
};
