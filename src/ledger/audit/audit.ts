import { z } from "zod";
import { period } from "../../domain/ledger/period.ts";
import type { EpochMs } from "../../domain/time.ts";
import { parse } from "../../domain/validation.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { readLog } from "../../eventstore/follow-events.ts";
import { toUnavailable } from "../../eventstore/store-error.ts";
import type { ChargesSource } from "../accounts/read-charges.ts";
import {
  createMissingJournals,
  type JournalSelection,
  type MissingJournals,
} from "../journal/missing-journals.ts";
import { type AuditEntry, auditEntries } from "./audit-entries.ts";
import { type EventFilter, entryFilter, includesJournals } from "./event-filter.ts";
import { readKeyEvents } from "./key-events.ts";
import { positionBefore } from "./log-period.ts";

/** Selects entries of the audit. If no filter is given, the audit has the whole log. */
export interface AuditRequest extends EventFilter {
  /** Starts after this place, which is that of the last received entry. */
  readonly after?: AuditPlace | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The place of an entry in the log. Without an index, it is the place after all entries of the
 * event.
 */
export interface AuditPlace {
  readonly position: number;
  readonly index?: number;
}

/** `<position>` or `<position>.<index>`. */
export const auditPlace = z
  .string()
  .regex(/^\d{1,15}(\.\d{1,6})?$/, { error: "Must be the <position> or <position>.<index> of an entry." })
  .transform((text): AuditPlace => {
    const [position, index] = text.split(".");
    return { position: Number(position), ...(index !== undefined && { index: Number(index) }) };
  });

/**
 * Replays the log in order of position, up to its current end. An interrupted replay throws, so a
 * replay that ends is complete.
 * @throws {Invalid} at once, for a bad time.
 * @throws {NotFound} from the iteration, for a key that was never issued.
 * @throws {Archived} from the iteration, before the first entry, if servings were deleted after
 * they were archived; later only if they are deleted meanwhile.
 * @throws {Unavailable} from the iteration, when the event store cannot be read: continue with
 * `after`.
 */
export type Audit = (request: AuditRequest) => AsyncIterable<AuditEntry>;

export const createAudit = ({
  clock = Date.now,
  ...source
}: ChargesSource & { readonly clock?: () => EpochMs }): Audit => {
  const { store } = source;
  const missing = createMissingJournals(store);
  return ({ apiKey, stream, type, request, after, signal, from, to }) => {
    const times = parse(period, { from, to });
    const { from: fromInclusive, to: toExclusive } = times;
    const hasJournals = includesJournals({ stream, type });
    const selection = { fromPosition: firstPosition(after), fromInclusive, toExclusive };
    const log = readFrom(store, { stream, after, fromInclusive, signal });
    const events =
      apiKey !== undefined
        ? readKeyEvents(source, clock(), { apiKey, ...selection, hasJournals, signal })
        : hasJournals
          ? complete(log, missing, { stream, ...selection })
          : log;
    const matches = entryFilter({ stream, type, request }, times);
    return replay(events, apiKey, (entry) => matches(entry) && !isBefore(entry, after));
  };
};

/** Throws if events are missing, also if they are deleted while the log is read. */
async function* complete(
  log: AsyncIterable<RecordedEvent>,
  missing: MissingJournals,
  { stream = "", ...selection }: JournalSelection,
): AsyncGenerator<RecordedEvent, void, undefined> {
  await missing.requireNone({ stream, ...selection });
  yield* log;
  await missing.requireNone({ stream, ...selection });
}

async function* replay(
  events: AsyncIterable<RecordedEvent>,
  apiKey: string | undefined,
  isIncluded: (entry: AuditEntry) => boolean,
): AsyncGenerator<AuditEntry> {
  try {
    for await (const event of events) {
      for (const entry of auditEntries(event, apiKey)) if (isIncluded(entry)) yield entry;
    }
  } catch (error) {
    throw toUnavailable(error);
  }
}

/** The position of the first event that may have entries after the place. */
export const firstPosition = (after: AuditPlace | undefined): number =>
  after ? after.position + (after.index === undefined ? 1 : 0) : 0;

async function* readFrom(
  store: EventStore,
  {
    stream,
    after,
    fromInclusive,
    signal,
  }: Pick<AuditRequest, "stream" | "after" | "signal"> & { readonly fromInclusive: number | undefined },
): AsyncGenerator<RecordedEvent> {
  const started = after?.index === undefined ? undefined : await store.eventAt(after.position);
  if (started) yield started;
  const first = fromInclusive === undefined ? 0 : ((await positionBefore(store, fromInclusive)) ?? 0);
  const position = Math.max(first, after?.position ?? 0);
  const options = {
    ...(position > 0 && { fromExclusive: position }),
    ...(stream && { prefixes: [stream] }),
    ...(signal && { signal }),
  };
  yield* readLog(store, options);
}

/** True if the entry is of the place's event, and not after the place. */
export const isBefore = ({ position, index }: AuditEntry, after: AuditPlace | undefined): boolean =>
  position === after?.position && index <= (after.index ?? index);
