import type { AppendExpectedRevision, EventStoreDBClient } from "@eventstore/db-client";
import { type AppendResult, type ExpectedRevision, readEvent } from "../event-store.ts";
import { isOutcomeUnknown, toAppendError } from "./errors.ts";
import { type ClientEvent, fromClientPosition } from "./event-mapping.ts";
import type { LogReader } from "./log-reader.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

/** The port's `append`, without its rules for stream names. */
export type Append = (
  stream: string,
  events: readonly ClientEvent[],
  expected: ExpectedRevision,
) => Promise<AppendResult>;

type ClientResult = Awaited<ReturnType<EventStoreDBClient["appendToStream"]>>;

/**
 * The client sends the deadline as a time of its own clock, and the server compares it with the
 * server's clock. With the client's default of 10 s, a machine that is 10 s behind could append
 * nothing. The server's own limit of 2 s applies in any case (Streams.BatchAppend.cs takes the
 * shorter of the two), and this process waits only for `timeoutMs`.
 */
const deadlineMs = 24 * 60 * 60_000;

/**
 * The number of repeats after the server has responded that it does not know the outcome. Each such
 * response takes 2 s.
 */
const maxRepeats = 3;

export const createAppend = (
  client: Pick<ReconnectingClient, "call">,
  reader: LogReader,
  timeoutMs: number,
): Append => {
  /**
   * A repeat that arrives before the first append is indexed gets `deadline-exceeded`,
   * although the events are stored; a later repeat gets the response of the first append. Repeats
   * keep the original expectation: at the stream's current revision the server does not compare
   * ids, and would store the events again.
   */
  const send = async (
    stream: string,
    events: readonly ClientEvent[],
    expected: ExpectedRevision,
  ): Promise<ClientResult> => {
    const options = { expectedRevision: toClientRevision(expected), deadline: deadlineMs };
    for (let repeats = 0; ; repeats++) {
      try {
        return await client.call(timeoutMs, (current) =>
          afterFirstAppend(current, () => current.appendToStream(stream, [...events], options)),
        );
      } catch (error) {
        if (!isOutcomeUnknown(error) || repeats === maxRepeats) throw toAppendError(error, stream, expected);
      }
    }
  };

  /**
   * A server may acknowledge a repeat without its position. Then this finds the position. Returns a
   * later position if the event cannot be read.
   */
  const positionOf = async (stream: string, revision: number): Promise<number> => {
    const event = await readEvent(reader, stream, { direction: "backwards", fromInclusive: revision });
    return event?.revision === revision ? event.position : ((await reader.lastPosition()) ?? 0);
  };

  return async (stream, events, expected) => {
    const { nextExpectedRevision, position } = await send(stream, events, expected);
    const revision = Number(nextExpectedRevision);
    return {
      revision,
      position: position ? fromClientPosition(position) : await positionOf(stream, revision),
    };
  };
};

const firstAppends = new WeakMap<EventStoreDBClient, Promise<unknown>>();

/**
 * Waits for the client's first append, which opens its stream of appends: appends that are sent
 * meanwhile would overtake it (db-client 6.2.1).
 */
const afterFirstAppend = async <T>(client: EventStoreDBClient, send: () => Promise<T>): Promise<T> => {
  const first = firstAppends.get(client);
  if (first !== undefined) {
    await first;
    return await send();
  }
  const sent = send();
  const settled = sent.then(
    () => {},
    () => firstAppends.delete(client), // The next append may go to another leader, by another stream.
  );
  firstAppends.set(client, settled);
  return await sent;
};

const toClientRevision = (expected: ExpectedRevision): AppendExpectedRevision => {
  if (expected === "any") return "any";
  return expected === "none" ? "no_stream" : BigInt(expected);
};
