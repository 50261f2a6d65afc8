import type { z } from "zod";
import { keyStream } from "../../domain/accounts/key.ts";
import { eventTypes } from "../../domain/event-shapes.ts";
import { usageAccountStream } from "../../domain/ledger/accounts/usage-account.ts";
import { journalPrefix, journalTypes } from "../../domain/ledger/journal/journal.ts";
import type { period } from "../../domain/ledger/period.ts";
import type { AuditEntry } from "./audit-entries.ts";

export interface EventFilter {
  /** Selects a key's own stream, its accounts, and its entries in journals. */
  readonly apiKey?: string | undefined;
  /** Selects streams whose names begin with this text. */
  readonly stream?: string | undefined;
  readonly type?: string | undefined;
  /** Selects what was recorded for the request with this id (`X-Request-Id`). */
  readonly request?: string | undefined;
  /** A date or an ISO 8601 time, inclusive, compared with the entries' `at`. */
  readonly from?: string | undefined;
  /** A date or an ISO 8601 time, exclusive, compared with the entries' `at`. */
  readonly to?: string | undefined;
}

const otherTypes = new Set(eventTypes).difference(new Set<string>(journalTypes));

/** True if the filter may include entries of journals. */
export const includesJournals = ({ stream = "", type }: Pick<EventFilter, "stream" | "type">): boolean =>
  (stream.startsWith(journalPrefix) || journalPrefix.startsWith(stream)) &&
  !(type !== undefined && otherTypes.has(type));

/**
 * Times are compared as numbers: zones and precision may differ. An entry with an unparsable time
 * is always included.
 */
export const entryFilter =
  (
    { apiKey, stream, type, request }: EventFilter,
    { from, to }: z.output<typeof period>,
  ): ((entry: AuditEntry) => boolean) =>
  (entry) => {
    if (type !== undefined && entry.type !== type) return false;
    if (stream !== undefined && !entry.stream.startsWith(stream)) return false;
    if (apiKey !== undefined && !isOfKey(entry, apiKey)) return false;
    if (request !== undefined && entry.metadata.correlationId !== request) return false;
    if (from === undefined && to === undefined) return true;
    const time = Date.parse(entry.at);
    return !(from !== undefined && time < from) && !(to !== undefined && time >= to);
  };

const isOfKey = ({ stream, data }: AuditEntry, apiKey: string): boolean =>
  stream.startsWith(journalPrefix)
    ? (data as { apiKey?: unknown }).apiKey === apiKey
    : stream === keyStream(apiKey) || stream.startsWith(usageAccountStream(apiKey, ""));
