import pLimit from "p-limit";
import { type Charge, chargesOf } from "../../../domain/ledger/charges.ts";
import { type JournalEvent, journalStream } from "../../../domain/ledger/journal.ts";
import { addMonths, monthOf } from "../../../domain/ledger/month.ts";
import { type UsagePosted, usageAccountStream } from "../../../domain/ledger/usage-accounts/usage-account.ts";
import type { EventStore } from "../../../eventstore/event-store.ts";
import { eventTime } from "../../usage/events/event-time.ts";
import { listOpenJournals } from "../journal/journal-registry.ts";
import { openEnd, type Range, rangesIn, sortRanges, uniteRanges } from "./revision-ranges.ts";
import { readMarks } from "./usage-reader.ts";

/** Times in milliseconds since the epoch. */
export interface ChargesRequest {
  readonly apiKeys: readonly string[];
  /** Only charges of servings from this time on. */
  readonly from: number;
  /** Only charges of servings before this time. */
  readonly to: number;
  /** Only what was recorded up to this time. */
  readonly asOf: number;
  /** True: the charges of a posting and a day may be one sum, at the day's midnight, if the whole day lies within the times. */
  readonly byDay: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Receives each charge once, in no particular order, or sums of charges. */
export type OnCharge = (charge: Charge) => void;

/**
 * Reads the charges of keys between two times. Of the accounts it reads what was posted since `from`; of the journals, each revision at
 * most once, for all keys: the unposted tails, and where the sums of a posting are not enough, the revisions that it names.
 * @throws {EventStoreUnavailable}
 */
export type ReadCharges = (request: ChargesRequest, onCharge: OnCharge) => Promise<void>;

const maxConcurrentReads = 8;
const dayMs = 86_400_000;
/** More than the clocks of two instances may differ. */
const toleranceMs = 300_000;

export const createChargeReader =
  ({ store }: { readonly store: EventStore }): ReadCharges =>
  async (request, onCharge) => {
    // The order matters: what is posted after this is counted once, because its account names its last revision.
    const marks = await readMarks(store, await listOpenJournals(store));
    const journals = new Map<string, JournalParts>();
    for (const [journal, mark] of marks) journals.set(journal, new JournalParts(mark));
    const limit = pLimit(maxConcurrentReads);
    const months = monthsOf(request);
    await limit.map(new Set(request.apiKeys), async (apiKey) => {
      for (const month of months) await readAccount(store, request, { apiKey, month, journals, onCharge });
    });
    const selected = new Set(request.apiKeys);
    await limit.map(journals, ([journal, parts]) =>
      readJournal(store, journal, parts, { ...request, selected, onCharge }),
    );
  };

/** The revisions of a journal that must be read, and for which accounts. */
class JournalParts {
  /** The last revision that is posted for all keys; undefined unless the journal was open. */
  readonly #mark: number | undefined;
  /** By account, the last posted revision, where it is above the mark. */
  readonly #through = new Map<string, number>();
  /** By account, the revisions whose entries are needed. `next`: the first range that does not end before the last revision read. */
  readonly #needed = new Map<string, { ranges: Range[]; next: number }>();

  constructor(mark?: number) {
    this.#mark = mark;
  }

  addPosting(account: string, through: number): void {
    if (this.#mark === undefined || through <= this.#mark) return;
    this.#through.set(account, Math.max(through, this.#through.get(account) ?? -1));
  }

  need(account: string, flat: readonly number[]): void {
    const needed = this.#needed.get(account) ?? { ranges: [], next: 0 };
    this.#needed.set(account, needed);
    for (const range of rangesIn(flat)) needed.ranges.push(range);
  }

  /** All needed revisions as ranges that do not overlap, in order. The tail is the last one, without an end. */
  ranges(): Range[] {
    const all: Range[] = this.#mark === undefined ? [] : [[this.#mark + 1, openEnd]];
    for (const { ranges } of this.#needed.values()) for (const range of sortRanges(ranges)) all.push(range);
    return uniteRanges(all);
  }

  /** Whether the account's entries at this revision are needed. Call it after `ranges`, with revisions that do not decrease. */
  includes(account: string, revision: number): boolean {
    if (this.#mark !== undefined && revision > Math.max(this.#mark, this.#through.get(account) ?? -1))
      return true;
    const needed = this.#needed.get(account);
    if (!needed) return false;
    while ((needed.ranges[needed.next]?.[1] ?? Number.POSITIVE_INFINITY) < revision) needed.next += 1;
    const [first] = needed.ranges[needed.next] ?? [Number.POSITIVE_INFINITY];
    return first <= revision;
  }
}

/** The months of the servings, `yyyy-mm`. */
const monthsOf = ({ from, to, asOf }: ChargesRequest): string[] => {
  const months: string[] = [];
  const last = monthOf(new Date(Math.max(from, Math.min(to - 1, asOf))).toISOString());
  for (let month = monthOf(new Date(from).toISOString()); month <= last; month = addMonths(month, 1)) {
    months.push(month);
  }
  return months;
};

const accountName = (apiKey: string, month: string): string => `${apiKey} ${month}`;

/** Adds the sums of postings where they are exact, and notes which revisions of journals are needed for the others. */
const readAccount = async (
  store: EventStore,
  request: ChargesRequest,
  {
    apiKey,
    month,
    journals,
    onCharge,
  }: { apiKey: string; month: string; journals: Map<string, JournalParts>; onCharge: OnCharge },
): Promise<void> => {
  const { from, signal } = request;
  const account = accountName(apiKey, month);
  const options = { direction: "backwards", ...(signal && { signal }) } as const;
  for await (const { type, data } of store.readStream(usageAccountStream(apiKey, month), options)) {
    if (type !== "UsagePosted") continue;
    const posting = data as UsagePosted;
    // Earlier postings have only entries that are earlier still.
    if (Date.parse(posting.at) < from - toleranceMs) return;
    const parts = journals.get(posting.journal) ?? new JournalParts();
    journals.set(posting.journal, parts);
    parts.addPosting(account, posting.through);
    const use = useOf(posting, request);
    if (use === "entries") parts.need(account, posting.ranges);
    if (use !== "sums") continue;
    for (const { day, engine, requests, characters } of posting.cells) {
      const at = Date.parse(day);
      if (placeOf(at, request) === "inside")
        onCharge({ apiKey, servedAt: `${day}T00:00:00.000Z`, engine, requests, characters });
    }
  }
};

/** Without voids, the sums name every day that has an entry. With voids, entries of a day may add up to nothing. */
const useOf = (posting: UsagePosted, request: ChargesRequest): "nothing" | "sums" | "entries" => {
  const { asOf, byDay, from } = request;
  const until = Date.parse(posting.until);
  if (until < from) return "nothing";
  const hasVoids = posting.voided.requests !== 0 || posting.voided.characters !== 0;
  const places = new Set(posting.cells.map(({ day }) => placeOf(Date.parse(day), request)));
  if (!hasVoids && !places.has("inside") && !places.has("partly")) return "nothing";
  const isExact = byDay && until <= asOf && (hasVoids ? hasWholeDays(request) : !places.has("partly"));
  return isExact ? "sums" : "entries";
};

const hasWholeDays = ({ from, to, asOf }: ChargesRequest): boolean =>
  from % dayMs === 0 && (to % dayMs === 0 || to > asOf);

/** Nothing is recorded after `asOf`: a day that ends later is inside. */
const placeOf = (day: number, { from, to, asOf }: ChargesRequest): "inside" | "outside" | "partly" => {
  if (day + dayMs <= from || day >= to) return "outside";
  return day >= from && (day + dayMs <= to || to > asOf) ? "inside" : "partly";
};

interface JournalRead extends ChargesRequest {
  readonly selected: ReadonlySet<string>;
  readonly onCharge: OnCharge;
}

const readJournal = async (
  store: EventStore,
  journal: string,
  parts: JournalParts,
  { from: since, to, asOf, selected, onCharge, signal }: JournalRead,
): Promise<void> => {
  for (const [from, last] of parts.ranges()) {
    const options = { from, ...(last < openEnd && { limit: last - from + 1 }), ...(signal && { signal }) };
    for await (const event of store.readStream(journalStream(journal), options)) {
      // Times never go backwards within a journal.
      if (Date.parse(eventTime(event)) > asOf) return;
      for (const charge of chargesOf(event as unknown as JournalEvent)) {
        const { apiKey, servedAt } = charge;
        const at = Date.parse(servedAt);
        if (!selected.has(apiKey) || at < since || at >= to) continue;
        if (parts.includes(accountName(apiKey, monthOf(servedAt)), event.revision)) onCharge(charge);
      }
    }
  }
};
