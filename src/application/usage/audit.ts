import { z } from "zod";
import { parse } from "../../domain/validation.ts";
import {
  type EventMetadata,
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
} from "../../eventstore/event-store.ts";
import { eventTime, instant } from "./business-time.ts";
import { readKeyEvents } from "./key-log.ts";
import { toUnavailable } from "./store-error.ts";

export interface AuditRequest {
  /** Only this key's events. Default: the whole log. */
  readonly apiKey?: string | undefined;
  /** A date or an ISO 8601 time, inclusive, compared with the entries' `at`. */
  readonly from?: string | undefined;
  /** A date or an ISO 8601 time, exclusive, compared with the entries' `at`. */
  readonly to?: string | undefined;
  /** Starts after this position, that of the last entry received. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An event in an audit. */
export interface AuditEntry {
  /** Increases over the whole log, with gaps. */
  readonly position: number;
  readonly stream: string;
  /** Counts from 0 within the stream, without gaps: a missing entry is noticed. */
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  /** When it happened, ISO 8601 UTC. */
  readonly at: string;
  readonly data: object;
  readonly metadata: EventMetadata;
}

/**
 * Replays the log in order of position, up to its current end. An interrupted replay throws, so a replay that ends is
 * complete.
 * @throws {Invalid} at once, for a bad time.
 * @throws {NotFound} from the iteration, for a key that was never issued.
 * @throws {Unavailable} from the iteration, when the event store cannot be read: continue with `after`.
 */
export type Audit = (request: AuditRequest) => AsyncIterable<AuditEntry>;

export const createAudit =
  ({ store, clock = Date.now }: { store: EventStore; clock?: () => number }): Audit =>
  ({ apiKey, from, to, after, signal }) => {
    const inPeriod = isInPeriod(parse(period, { from, to }));
    const events =
      apiKey === undefined
        ? readLog(store, after, signal)
        : readKeyEvents(store, clock(), { apiKey, after, signal });
    return replay(events, inPeriod);
  };

async function* replay(
  events: AsyncIterable<RecordedEvent>,
  within: (at: string) => boolean,
): AsyncGenerator<AuditEntry> {
  try {
    for await (const event of events) {
      const at = eventTime(event);
      if (within(at)) yield entry(event, at);
    }
  } catch (error) {
    throw toUnavailable(error);
  }
}

/** Omits the per-minute request counts: they are trimmed by age and prove nothing. */
async function* readLog(
  store: EventStore,
  after: number | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<RecordedEvent> {
  const options = { ...(after !== undefined && { after }), ...(signal && { signal }) };
  for await (const { events, caughtUp } of store.subscribe(options)) {
    for (const event of events) if (!event.stream.startsWith("rate-")) yield event;
    if (caughtUp) return;
  }
  signal?.throwIfAborted();
  throw new EventStoreUnavailable("the subscription ended before the end of the log");
}

const period = z.object({ from: instant.optional(), to: instant.optional() });

/** Times are compared as numbers: zones and precision may differ. An unparsable time is always included. */
const isInPeriod = ({ from, to }: z.infer<typeof period>): ((at: string) => boolean) => {
  if (from === undefined && to === undefined) return () => true;
  return (at) => {
    const time = Date.parse(at);
    return !(from !== undefined && time < from) && !(to !== undefined && time >= to);
  };
};

const entry = (
  { position, stream, revision, id, type, data, metadata }: RecordedEvent,
  at: string,
): AuditEntry => ({
  position,
  stream,
  revision,
  id,
  type,
  at,
  data: redact(type, data),
  metadata,
});

/** Members that an audit does not need, but an attacker could use. */
const withheld: ReadonlyMap<string, string> = new Map([
  ["SecretCreated", "hash"],
  ["CredentialsSet", "sealed"],
  ["CredentialsResealed", "sealed"],
]);

const redact = (type: string, data: object): object => {
  const member = withheld.get(type);
  return member === undefined ? data : { ...data, [member]: "[withheld]" };
};
