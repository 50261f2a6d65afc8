import { type EventStoreDBClient, jsonEvent } from "@eventstore/db-client";
import type { AppendResult, ExpectedRevision, NewEvent } from "../event-store.ts";
import { maxEventBytes, validateEventIds } from "../event-validation.ts";
import { isOutcomeUnknown, toAppendError } from "./errors.ts";
import { positionOf, toStored } from "./event-mapping.ts";
import { escapedData, escapedJson } from "./json-escapes.ts";
import type { LogReader } from "./log-reader.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

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
  const ids = validateEventIds(events);
  let bytes = 0;
  const appendable = events.map(({ type, data, metadata }, index) => {
    const stored = Buffer.from(escapedJson(toStored(metadata)));
    const escaped = escapedData(data);
    bytes += type.length * 2 + stored.length + escaped.bytes;
    // A plain Uint8Array goes out as it is; a Buffer would be written as JSON.
    const bare = new Uint8Array(stored.buffer, stored.byteOffset, stored.length);
    return jsonEvent({ id: ids[index] ?? "", type, data: escaped.data, metadata: bare });
  });
  if (bytes > maxEventBytes) throw new RangeError(`an append has at most ${maxEventBytes} bytes`);
  return { events: appendable, bytes };
};

/** How often an append is repeated whose outcome the server does not know; it takes 2 s over each such answer. */
const maxRepeats = 3;

/** The first append of each client, which opens its stream of appends. */
const opening = new WeakMap<EventStoreDBClient, Promise<unknown>>();

export const openAppender = (
  kept: Pick<ReconnectingClient, "call">,
  reader: LogReader,
  timeoutMs: number,
): Appender => {
  const sendOnce = (
    stream: string,
    events: readonly Appendable[],
    expected: ExpectedRevision,
  ): Promise<Sent> =>
    kept.call(timeoutMs, (client) =>
      afterTheFirst(client, () =>
        client.appendToStream(stream, [...events], { expectedRevision: toClients(expected) }),
      ),
    );

  /**
   * A repeat that arrives before the first append is indexed is answered with `deadline-exceeded`, though the events are
   * stored; the next repeat is answered like the first. The expectation stays the original one: with the stream's current
   * revision the server does not compare ids, and would store the events again.
   */
  const send = async (
    stream: string,
    events: readonly Appendable[],
    expected: ExpectedRevision,
  ): Promise<Sent> => {
    for (let repeats = 0; ; repeats++) {
      try {
        return await sendOnce(stream, events, expected);
      } catch (error) {
        if (!isOutcomeUnknown(error) || repeats === maxRepeats) throw toAppendError(error, stream, expected);
      }
    }
  };

  /** Some servers answer a repeat without its position: then one that views pass no sooner than the event's own. */
  const positionAt = async (stream: string, revision: number): Promise<number> => {
    for await (const event of reader.stream(stream, { direction: "backwards", from: revision, limit: 1 })) {
      if (event.revision === revision) return event.position;
    }
    return (await reader.head()) ?? 0;
  };

  return {
    append: async (stream, events, expected) => {
      const { nextExpectedRevision, position } = await send(stream, events, expected);
      const revision = Number(nextExpectedRevision);
      return {
        revision,
        position: position ? positionOf(position) : await positionAt(stream, revision),
      };
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
