import { type EventStoreDBClient, jsonEvent } from "@eventstore/db-client";
import { LRUCache } from "lru-cache";
import {
  type AppendResult,
  type ExpectedRevision,
  type NewEvent,
  WrongExpectedRevision,
} from "../event-store.ts";
import { checkedIds, jsonObject, maxEventBytes } from "../what-a-log-keeps.ts";
import { appendFailure } from "./failures.ts";
import type { KeptClient } from "./kept-client.ts";
import type { LogReader } from "./log-reader.ts";
import { positionOf, toStored } from "./recorded.ts";

export interface Appender {
  /** As the port's `append`, for any stream whatever its name. */
  append(stream: string, events: readonly Appendable[], expected: ExpectedRevision): Promise<AppendResult>;
}

type Appendable = ReturnType<typeof toAppendable>["events"][number];
type Sent = Awaited<ReturnType<EventStoreDBClient["appendToStream"]>>;

/**
 * Checks the events and makes them what the client takes. The client writes them as JSON where nobody hears of a failure,
 * and its append would hang.
 * @throws {TypeError} when there is none, an id is not a UUID or there twice, or data or metadata is no JSON object
 * @throws {RangeError} when they have more than 1 MiB together, which is what a server takes as one append
 */
export const toAppendable = (events: readonly NewEvent[]) => {
  const ids = checkedIds(events);
  let bytes = 0;
  const appendable = events.map(({ type, data, metadata }, index) => {
    const stored = Buffer.from(jsonObject(toStored(metadata)));
    bytes += type.length * 2 + stored.length + Buffer.byteLength(jsonObject(data));
    // A plain Uint8Array goes out as it is; a Buffer would be written as JSON.
    const bare = new Uint8Array(stored.buffer, stored.byteOffset, stored.length);
    return jsonEvent({ id: ids[index] ?? "", type, data: data as Record<string, unknown>, metadata: bare });
  });
  if (bytes > maxEventBytes) throw new RangeError(`an append has at most ${maxEventBytes} bytes`);
  return { events: appendable, bytes };
};

/** The first append of each client, which opens its stream of appends. */
const opening = new WeakMap<EventStoreDBClient, Promise<unknown>>();

export const openAppender = (
  kept: Pick<KeptClient, "call">,
  reader: LogReader,
  timeoutMs: number,
): Appender => {
  const send = async (
    stream: string,
    events: readonly Appendable[],
    expected: ExpectedRevision,
  ): Promise<Sent> => {
    try {
      return await kept.call(timeoutMs, (client) =>
        afterTheFirst(client, () =>
          client.appendToStream(stream, [...events], { expectedRevision: toClients(expected) }),
        ),
      );
    } catch (error) {
      throw appendFailure(error, stream, expected);
    }
  };

  /** Some servers answer a repeat without its position: then one that views pass no sooner than the event's own. */
  const positionAt = async (stream: string, revision: number): Promise<number> => {
    for await (const event of reader.stream(stream, { direction: "backwards", from: revision, limit: 1 })) {
      if (event.revision === revision) return event.position;
    }
    return (await reader.head()) ?? 0;
  };

  /**
   * The last revision that can be seen. Past its age a stream shows no event at all, and still counts: whoever folded what
   * can be seen has folded all there is.
   */
  const lastSeen = async (stream: string): Promise<number> => {
    for await (const { revision } of reader.stream(stream, { direction: "backwards", limit: 1 }))
      return revision;
    return -1;
  };

  const appendAt = async (
    stream: string,
    events: readonly Appendable[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> => {
    const { nextExpectedRevision, position } = await send(stream, events, expected);
    const revision = Number(nextExpectedRevision);
    return {
      revision,
      position: position ? positionOf(position) : await positionAt(stream, revision),
    };
  };

  /**
   * What was expected of the log, by the first event's id, instead of what could be seen; while nobody knows what came of
   * it. A repeat is recognised only where it expects the same.
   */
  const beyondSight = new LRUCache<string, number>({ max: 1_000 });

  const appendBeyondSight = async (
    stream: string,
    events: readonly Appendable[],
    actual: number,
  ): Promise<AppendResult> => {
    const id = events[0]?.id ?? "";
    beyondSight.set(id, actual);
    try {
      const result = await appendAt(stream, events, actual);
      beyondSight.delete(id);
      return result;
    } catch (error) {
      if (error instanceof WrongExpectedRevision) beyondSight.delete(id);
      throw error;
    }
  };

  return {
    append: async (stream, events, expected) => {
      const begun = beyondSight.get(events[0]?.id ?? "");
      if (begun !== undefined) return await appendBeyondSight(stream, events, begun);
      try {
        return await appendAt(stream, events, expected);
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision) || expected === "any") throw error;
        const wanted = expected === "none" ? -1 : expected;
        if (error.actual <= wanted || (await lastSeen(stream)) > wanted) throw error;
        return await appendBeyondSight(stream, events, error.actual);
      }
    },
  };
};

/** Those that meet before a client's stream of appends is open would overtake the one that opens it (6.2.1). */
const afterTheFirst = async <T>(client: EventStoreDBClient, send: () => Promise<T>): Promise<T> => {
  const first = opening.get(client);
  if (first !== undefined) {
    await first;
    return await send();
  }
  const sent = send();
  opening.set(
    client,
    sent.then(
      () => {},
      () => opening.delete(client), // it goes to another leader, by another stream
    ),
  );
  return await sent;
};

const toClients = (expected: ExpectedRevision) => {
  if (expected === "any") return "any";
  return expected === "none" ? "no_stream" : BigInt(expected);
};
