import { z } from "zod";
import { NotFound } from "../domain/errors.ts";
import { keyStream } from "../domain/key.ts";
import { parse } from "../domain/validation.ts";
import {
  type EventMetadata,
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
} from "../eventstore/event-store.ts";
import { businessTime, instant } from "./business-time.ts";
import { storeTrouble } from "./store-trouble.ts";

export interface AuditRequest {
  /** Only what was done to this key and what it was served. Default: the whole log. */
  readonly apiKey?: string | undefined;
  /** A date or an ISO 8601 time, inclusive, compared with the entries' `at`. */
  readonly from?: string | undefined;
  /** A date or an ISO 8601 time, exclusive, compared with the entries' `at`. */
  readonly to?: string | undefined;
  /** Goes on after this position: that of the last entry one has. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An event as auditors see it. */
export interface AuditEntry {
  /** Grows over the whole log; not dense, because other entries lie between. */
  readonly position: number;
  readonly stream: string;
  /** Counts from 0 in its stream without a gap: a missing one shows. */
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  /** When it happened, ISO 8601 UTC. */
  readonly at: string;
  readonly data: object;
  readonly metadata: EventMetadata;
}

/**
 * Replays the log in order of position, up to its end as of now, and then ends. Whatever keeps it from that end
 * makes the iteration throw, so that a replay that ended is whole.
 * @throws {Invalid} at once, for a bad time.
 * @throws {NotFound} from the iteration, for a key that was never issued.
 * @throws {Unavailable} from the iteration, when the event store cannot be read: go on with `after`.
 */
export type Audit = (request: AuditRequest) => AsyncIterable<AuditEntry>;

export const createAudit =
  ({ store }: { store: EventStore }): Audit =>
  ({ apiKey, from, to, after, signal }) => {
    const within = inside(parse(period, { from, to }));
    return replay(store, {
      streams: apiKey === undefined ? allStreams : streamsOf(apiKey),
      within,
      after,
      signal,
    });
  };

interface Replay {
  readonly streams: Streams;
  readonly within: (at: string) => boolean;
  readonly after: number | undefined;
  readonly signal: AbortSignal | undefined;
}

interface Streams {
  readonly apiKey?: string;
  readonly prefixes: readonly string[];
  includes(stream: string): boolean;
}

/** Without the per-minute counters: they are telemetry that is trimmed by age, and prove nothing. */
const allStreams: Streams = { prefixes: [], includes: (stream) => !stream.startsWith("rate-") };

/** A subscription knows only beginnings of names, and `key-{apiKey}` may be the beginning of a longer key's. */
const streamsOf = (apiKey: string): Streams => {
  const key = keyStream(apiKey);
  const usage = `usage-${apiKey}-`;
  const includes = (stream: string) =>
    stream === key || (stream.startsWith(usage) && /^\d{4}-\d{2}$/.test(stream.slice(usage.length)));
  return { apiKey, prefixes: [key, usage], includes };
};

async function* replay(store: EventStore, query: Replay): AsyncGenerator<AuditEntry> {
  const { streams, within, after, signal } = query;
  try {
    if (streams.apiKey !== undefined) await mustBeIssued(store, streams.apiKey);
    const { prefixes } = streams;
    const options = { prefixes, ...(after !== undefined && { after }), ...(signal && { signal }) };
    for await (const { events, caughtUp } of store.subscribe(options)) {
      for (const event of events) {
        if (!streams.includes(event.stream)) continue;
        const at = businessTime(event);
        if (within(at)) yield entry(event, at);
      }
      if (caughtUp) return;
    }
  } catch (error) {
    throw storeTrouble(error);
  }
  signal?.throwIfAborted();
  throw storeTrouble(new EventStoreUnavailable("the subscription ended before the end of the log"));
}

const mustBeIssued = async (store: EventStore, apiKey: string): Promise<void> => {
  for await (const _ of store.readStream(keyStream(apiKey), { limit: 1 })) return;
  throw new NotFound("There is no such key.");
};

const period = z.object({ from: instant.optional(), to: instant.optional() });

/** Zones and digits of a second may differ: times are compared as numbers. One that is no time is never left out. */
const inside = ({ from, to }: z.infer<typeof period>): ((at: string) => boolean) => {
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
  data: shown(type, data),
  metadata,
});

/** What serves no auditor, only somebody who guesses a secret or comes by a key. */
const withheld: ReadonlyMap<string, string> = new Map([
  ["SecretCreated", "hash"],
  ["CredentialsSet", "sealed"],
  ["CredentialsResealed", "sealed"],
]);

const shown = (type: string, data: object): object => {
  const member = withheld.get(type);
  return member === undefined ? data : { ...data, [member]: "[withheld]" };
};
