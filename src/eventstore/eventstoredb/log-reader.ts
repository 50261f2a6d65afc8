import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  type ReadRevision,
  type ResolvedEvent,
  START,
} from "@eventstore/db-client";
import { inTimeSlices } from "../../async/time-slices.ts";
import { EventStoreUnavailable, type ReadOptions, type RecordedEvent } from "../event-store.ts";
import { validateReadBounds } from "../event-validation.ts";
import { isInvalidPosition, isStreamNotFound, toUnavailable } from "./errors.ts";
import { fromClientPosition, toClientPosition, toRecordedEvent } from "./event-mapping.ts";
import { createPausedReader, type PausedReader, type Source } from "./paused-reader.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

export type LogReader = ReturnType<typeof createLogReader>;

/**
 * A call that is cancelled before the server has sent everything resets its HTTP/2 stream, and
 * servers end connections with many resets (CVE-2023-44487). So a stream is read in calls of
 * limited size, and the rest of a call is discarded if its reader stops early. The first call is
 * small, because readers of a stream's last events stop early.
 */
const firstCallSize = 16;
const maxCallSize = 256;
const callGrowth = 4;

interface ClientRead extends Source {
  cancel(): Promise<void>;
}
type StartRead = (client: EventStoreDBClient) => ClientRead;

/**
 * Followers of a cluster lag behind acknowledged appends, without a bound while they are cut off.
 */
export const fromLeader = { requiresLeader: true } as const;

export const createLogReader = (client: ReconnectingClient, timeoutMs: number) => {
  const call = (startRead: StartRead, signal?: AbortSignal) => readCall(client, timeoutMs, startRead, signal);

  async function* readCalls(
    stream: string,
    { direction = FORWARDS, fromInclusive, limit, signal }: ReadOptions,
  ): AsyncGenerator<ResolvedEvent[], void, undefined> {
    const isBackwards = direction === BACKWARDS;
    let fromRevision: ReadRevision =
      fromInclusive === undefined ? (isBackwards ? END : START) : BigInt(fromInclusive);
    let size = limit === undefined ? firstCallSize : maxCallSize;
    for (let left = limit ?? Number.MAX_SAFE_INTEGER; left > 0; ) {
      const maxCount = Math.min(size, left);
      const options = { ...fromLeader, direction, fromRevision, maxCount };
      let count = 0;
      let last: bigint | undefined;
      for await (const events of call((current) => current.readStream(stream, options), signal)) {
        count += events.length;
        last = events.at(-1)?.event?.revision;
        yield events;
      }
      if (count < maxCount || last === undefined || (isBackwards && last === 0n)) return;
      fromRevision = isBackwards ? last - 1n : last + 1n;
      left -= count;
      size = Math.min(size * callGrowth, maxCallSize);
    }
  }

  async function* readStream(
    stream: string,
    options: ReadOptions = {},
  ): AsyncGenerator<RecordedEvent, void, undefined> {
    const { fromInclusive, limit, signal } = options;
    validateReadBounds(fromInclusive ?? 0, limit ?? 0);
    signal?.throwIfAborted();
    if (limit === 0) return void (await client.current());
    try {
      for await (const events of readCalls(stream, options)) {
        for await (const resolved of inTimeSlices(events)) {
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
      for await (const [first] of call(startRead)) return first;
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

/** Fails if the server sends nothing for longer than the timeout. */
async function* readCall(
  client: ReconnectingClient,
  timeoutMs: number,
  startRead: StartRead,
  signal?: AbortSignal,
): AsyncGenerator<ResolvedEvent[], void, undefined> {
  const current = await client.current();
  const read = startRead(current);
  const reader = createPausedReader<ResolvedEvent>(read, signal);
  let mustDrain = true;
  try {
    for (;;) {
      const state = await reader.wait(timeoutMs);
      signal?.throwIfAborted();
      if (state === "timeout") throw new EventStoreUnavailable("the event store did not respond in time");
      if (state === "ended") {
        mustDrain = false;
        return;
      }
      const events = reader.read(maxCallSize);
      if (events.length > 0) yield events;
    }
  } catch (error) {
    mustDrain = false;
    if (!signal?.aborted) client.reportError(current, error);
    throw error;
  } finally {
    const close = (): void => {
      reader.close();
      cancel(read);
    };
    if (mustDrain) void drainRest(reader, timeoutMs, signal).finally(close);
    else close();
  }
}

const drainRest = async (
  reader: PausedReader<ResolvedEvent>,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<void> => {
  try {
    while (!signal?.aborted && (await reader.wait(timeoutMs)) === "readable") reader.read(maxCallSize);
  } catch {
    // No reader is left that could handle the error.
  }
};

const cancel = (read: ClientRead): void => void read.cancel().catch(() => {});
