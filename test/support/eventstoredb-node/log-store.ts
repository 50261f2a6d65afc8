import { Buffer } from "node:buffer";
import {
  type AppendResult,
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
  WrongExpectedRevision,
} from "../../../src/eventstore/event-store.ts";
import type { EventLog } from "./event-log.ts";
import type { AppendOutcome, LoggedEvent } from "./logged-event.ts";

/**
 * An event store on the node's log without a network: its only delays are the log's, on the test's
 * clock.
 */
export const logStore = (log: EventLog): Pick<EventStore, "append" | "readStream"> => ({
  append: (stream, events, expected) =>
    new Promise<AppendResult>((resolve, reject) => {
      const proposed = events.map(({ id, type, data, metadata }) => ({
        id,
        type,
        contentType: "application/json",
        data: Buffer.from(JSON.stringify(data)),
        metadata: Buffer.from(JSON.stringify(metadata)),
      }));
      const response = (outcome: AppendOutcome): void => {
        if (outcome.is === "appended" || outcome.is === "repeated") resolve(outcome);
        else if (outcome.is === "conflict")
          reject(new WrongExpectedRevision(stream, expected, outcome.actual));
        else reject(new EventStoreUnavailable(`append: ${outcome.is}`));
      };
      log.append(stream, proposed, expected, response);
    }),
  async *readStream(
    stream,
    { direction = "forwards", fromInclusive, limit = Number.POSITIVE_INFINITY } = {},
  ) {
    const events = log.visible(stream);
    const wanted =
      direction === "forwards"
        ? events.filter(({ revision }) => revision >= (fromInclusive ?? 0))
        : events
            .filter(({ revision }) => revision <= (fromInclusive ?? Number.POSITIVE_INFINITY))
            .toReversed();
    yield* wanted.slice(0, limit).map(toRecorded);
  },
});

export const toRecorded = ({ data, metadata, contentType: _, ...event }: LoggedEvent): RecordedEvent => ({
  ...event,
  data: JSON.parse(Buffer.from(data).toString("utf8")),
  metadata: JSON.parse(Buffer.from(metadata).toString("utf8")),
});
