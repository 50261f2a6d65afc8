import { isWellFormed } from "../../domain/event-shapes.ts";
import { inCanonicalOrder } from "../../domain/ledger/journal/canonical.ts";
import { type JournalEvent, journalPrefix } from "../../domain/ledger/journal/journal.ts";
import { expandServings } from "../../domain/ledger/journal/serving-columns.ts";
import { rateStream } from "../../domain/ledger/rate.ts";
import { withheldMember } from "../../domain/ledger/seals/proven-event.ts";
import { type EventMetadata, eventTime, type RecordedEvent } from "../../eventstore/event-store.ts";

/**
 * An event in an audit, or one of the servings, voided servings or ends of streams that an event
 * holds.
 */
export interface AuditEntry {
  /** The event's position. It increases over the whole log, with gaps. */
  readonly position: number;
  /** Counts from 0 within the event. An audit of one key leaves out the entries of other keys. */
  readonly index: number;
  readonly stream: string;
  /**
   * Counts from 0 within the stream, without gaps. In an audit of one key, journals have gaps: only
   * their events with entries of the key are included.
   */
  readonly revision: number;
  /** The event's id. */
  readonly id: string;
  readonly type: string;
  /** The time at which it happened. ISO 8601, UTC. */
  readonly at: string;
  /** The event's own data, or a serving, voided serving or end of a stream (journal/serving.ts). */
  readonly data: object;
  readonly metadata: EventMetadata;
}

/**
 * Lists the event's entries, in order. If `apiKey` is given, an event of a journal has only the
 * entries of this key. Archives have the events of journals in canonical order, so that the entries
 * from an archive are those of the log.
 */
export const auditEntries = (recorded: RecordedEvent, apiKey?: string): AuditEntry[] => {
  const { position, stream, revision, id } = recorded;
  if (stream.startsWith(rateStream(""))) return [];
  const { data, metadata } = recorded;
  const isOwn = isWellFormed(recorded);
  const event =
    isOwn && stream.startsWith(journalPrefix)
      ? { ...recorded, ...inCanonicalOrder({ data, metadata }) }
      : recorded;
  const common = { position, stream, revision, id, at: eventTime(event) };
  const parts = isOwn ? partsOf(event as unknown as JournalEvent) : undefined;
  if (!parts) {
    if (apiKey !== undefined && stream.startsWith(journalPrefix)) return [];
    const { type } = event;
    return [{ ...common, index: 0, type, data: redact(type, event.data), metadata: event.metadata }];
  }
  return parts.entries.flatMap(({ traceparent, ...data }, index) => {
    if (apiKey !== undefined && data.apiKey !== apiKey) return [];
    const request = { correlationId: data.requestId, ...(traceparent !== undefined && { traceparent }) };
    const metadata = { ...event.metadata, actor: parts.actorOf(data.apiKey), ...request };
    return [{ ...common, index, type: parts.type, data, metadata }];
  });
};

interface Parts {
  readonly type: string;
  readonly entries: readonly {
    readonly apiKey: string;
    readonly requestId: string;
    readonly traceparent?: string;
  }[];
  readonly actorOf: (apiKey: string) => string;
}

const partsOf = ({ type, data }: JournalEvent): Parts | undefined => {
  switch (type) {
    case "SynthesesServed":
      return { type: "SynthesisServed", entries: expandServings(data), actorOf: (apiKey) => `key:${apiKey}` };
    case "ServingsVoided":
      return { type: "ServingVoided", entries: data.servings, actorOf: () => "system" };
    case "StreamsEnded":
      return { type: "StreamEnded", entries: data.streams, actorOf: (apiKey) => `key:${apiKey}` };
    default:
      return undefined;
  }
};

const redact = (type: string, data: object): object => {
  const member = withheldMember(type);
  return member === undefined ? data : { ...data, [member]: "[withheld]" };
};
