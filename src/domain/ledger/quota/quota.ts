import { never } from "../../never.ts";
import {
  type Checked,
  type DataOf,
  type EventOf,
  integer,
  listOf,
  object,
  text,
  utcTime,
} from "../../shape.ts";
import { JournalTakenOver } from "../journal/journal.ts";

const journalTotal = {
  journal: text,
  /**
   * The journal's characters of the month: spent and, after `CharactersReserved`, those that it may
   * still spend. Negative if more was voided in this journal than charged.
   */
  total: integer,
  at: utcTime,
};
export type JournalTotal = DataOf<typeof journalTotal>;

const spentTotal = object({ journal: text, total: integer });
export type SpentTotal = Checked<typeof spentTotal>;

/**
 * The characters of a key's monthly quota that the journals have reserved. Stream
 * `quota-{apiKey}-{yyyy-mm}`. It holds one running total per journal. An event states the total
 * itself, not a change of it.
 */
export const quotaShapes = {
  CharactersReserved: journalTotal,
  ReservationReturned: journalTotal,
  ReservationSettled: journalTotal,
  /** `journal` needs characters: all others must return what they have not spent. */
  ReservationsRecalled: { journal: text, at: utcTime },
  /** The totals that journals had spent before the key's plan had a quota. */
  UsageCarriedOver: { totals: listOf(spentTotal), at: utcTime },
};
export type QuotaEvent = EventOf<typeof quotaShapes>;
type ReservationsRecalled = DataOf<typeof quotaShapes.ReservationsRecalled>;

export const quotaPrefix = "quota-";

export const quotaStream = (apiKey: string, month: string): string => `${quotaPrefix}${apiKey}-${month}`;

/** The key and the month of a quota stream. */
export const parseQuotaStream = (stream: string): { apiKey: string; month: string } => ({
  apiKey: stream.slice(quotaPrefix.length, -"-yyyy-mm".length),
  month: stream.slice(-"yyyy-mm".length),
});

/** The characters of the month that one journal accounts for. */
interface Share {
  readonly total: number;
  /** The total of the journal's own last event; undefined if its usage was carried over. */
  readonly stated: number | undefined;
  /** Only `reserved` and `recalled` shares may include unspent characters. `settled` is final. */
  readonly status: "carried over" | "reserved" | "recalled" | "returned" | "settled";
  /**
   * The number of the reservation in the stream. It distinguishes the reservations of one journal.
   */
  readonly reservation: number;
}

export interface Quota {
  readonly shares: ReadonlyMap<string, Share>;
  /** The sum of all journals' totals. */
  readonly total: number;
  readonly reservations: number;
  readonly lastRecall: ReservationsRecalled | undefined;
}

const initial = (): Quota => ({ shares: new Map(), total: 0, reservations: 0, lastRecall: undefined });

const evolve = (state: Quota, event: QuotaEvent): Quota => {
  switch (event.type) {
    case "CharactersReserved": {
      const reservation = state.reservations + 1;
      return { ...withShare(state, event.data, "reserved", reservation), reservations: reservation };
    }
    case "ReservationReturned":
      return withShare(state, event.data, "returned");
    case "ReservationSettled":
      return withShare(state, event.data, "settled");
    case "ReservationsRecalled":
      return recalled(state, event.data);
    case "UsageCarriedOver":
      return event.data.totals.reduce(carriedOver, state);
    default:
      return never(event, state);
  }
};

export const quotaDecider = { initial, evolve };

const replaced = (state: Quota, journal: string, share: Share): Quota => {
  const before = state.shares.get(journal);
  if (before?.status === "settled") return state;
  const shares = new Map(state.shares).set(journal, share);
  return { ...state, shares, total: state.total - (before?.total ?? 0) + share.total };
};

const withShare = (
  state: Quota,
  { journal, total }: JournalTotal,
  status: Share["status"],
  reservation = 0,
): Quota => replaced(state, journal, { total, stated: total, status, reservation });

const recalled = (state: Quota, recall: ReservationsRecalled): Quota => {
  const shares = new Map(state.shares);
  for (const [journal, share] of shares) {
    if (share.status !== "reserved" || journal === recall.journal) continue;
    shares.set(journal, { ...share, status: "recalled" });
  }
  return { ...state, shares, lastRecall: recall };
};

/**
 * Never lowers a share: the carried total may have been read before the journal's own last event.
 */
const carriedOver = (state: Quota, { journal, total }: SpentTotal): Quota => {
  const share = state.shares.get(journal) ?? {
    total: 0,
    stated: undefined,
    status: "carried over",
    reservation: 0,
  };
  return replaced(state, journal, { ...share, total: Math.max(share.total, total) });
};

/** The requested characters are not available in any journal. */
export class QuotaExceeded extends Error {
  override readonly name = "QuotaExceeded";
  /** The characters of the month that are spent. */
  readonly used: number;
  readonly quota: number;

  constructor(used: number, quota: number) {
    super(`a request exceeded the monthly quota of ${quota} characters, of which ${used} are used`);
    this.used = used;
    this.quota = quota;
  }
}

/** What a journal knows of its own share when it sends a command. */
export interface OwnShare {
  readonly journal: string;
  /**
   * The totals that the journal's last event in the stream may have: several while the outcome of
   * an append is unknown.
   */
  readonly expected: readonly (number | undefined)[];
  /** The characters that the journal has charged, including appends in flight. */
  readonly spent: number;
  /** The time in ISO 8601, UTC. */
  readonly at: string;
}

/**
 * The reserved total of a journal that may spend nothing. It is −∞, so that every spent total is
 * above it, even one that is negative after voids. With 0, the journal could spend what it has
 * voided.
 */
export const nothingReserved = Number.NEGATIVE_INFINITY;

export interface ReserveCharacters extends OwnShare {
  /** The total up to which the journal may spend while the command runs, or `nothingReserved`. */
  readonly reservedTotal: number;
  /** The characters of the waiting requests, in order, at least one. Each is above 0. */
  readonly wanted: readonly number[];
  readonly quota: number;
}

/**
 * Reserves for as many of the waiting requests as possible, in order. If the first one does not fit
 * and other journals hold reservations, recalls them. Returns no event if they are recalled already
 * and have yet to respond.
 * @throws {QuotaExceeded} if the first request does not fit and no other journal holds a
 * reservation
 * @throws {JournalTakenOver}
 */
export const reserveCharacters = (state: Quota, command: ReserveCharacters): QuotaEvent[] => {
  const { journal, spent, reservedTotal, wanted, quota, at } = command;
  const others = state.total - (ownShare(state, command)?.total ?? 0);
  const available = quota - others - spent;
  const needed = sumOfFitting(wanted, available);
  if (needed > 0) {
    const size = Math.min(available, Math.max(needed, sliceOf(state, command, available)));
    return [
      { type: "CharactersReserved", data: { journal, total: Math.max(reservedTotal, spent + size), at } },
    ];
  }
  const holders = otherHolders(state, journal);
  if (holders.length === 0) throw new QuotaExceeded(others + spent, quota);
  if (holders.every(({ isRecalled }) => isRecalled)) return [];
  return [{ type: "ReservationsRecalled", data: { journal, at } }];
};

/**
 * States what the journal has spent, and that it holds nothing more. Returns no event if the stream
 * says so already, unless an earlier append whose outcome is unknown may still arrive.
 * @throws {JournalTakenOver}
 */
export const returnReservation = (state: Quota, command: OwnShare): QuotaEvent[] => {
  const { journal, expected, spent, at } = command;
  const share = ownShare(state, command);
  const isHolding = share?.status === "reserved" || share?.status === "recalled";
  if (!isHolding && (share?.total ?? 0) === spent && expected.length === 1) return [];
  return [{ type: "ReservationReturned", data: { journal, total: spent, at } }];
};

/**
 * Returns the characters that are not spent, but keeps the reservation, because some characters are
 * held for requests in progress. If the process dies, other journals settle the reservation.
 * @throws {JournalTakenOver}
 */
export const reduceReservation = (state: Quota, command: OwnShare): QuotaEvent[] => {
  ownShare(state, command);
  const { journal, spent, at } = command;
  return [{ type: "CharactersReserved", data: { journal, total: spent, at } }];
};

/**
 * Settles the reservations of closed journals by stating their final totals. Returns no event for a
 * total that changes nothing. Nor does it return one for a positive total of a journal without a
 * share: the key had no quota then, and `carryOverUsage` counts this total.
 */
export const settleReservations = (state: Quota, totals: readonly SpentTotal[], at: string): QuotaEvent[] =>
  totals
    .filter(({ journal, total }) => {
      const share = state.shares.get(journal);
      if (share === undefined) return total < 0;
      return share.status !== "settled" && (share.status !== "returned" || share.total !== total);
    })
    .map(({ journal, total }) => ({ type: "ReservationSettled", data: { journal, total, at } }));

/** Adds what was spent without reservations, unless the stream includes it already. */
export const carryOverUsage = (state: Quota, totals: readonly SpentTotal[], at: string): QuotaEvent[] => {
  const uncounted = totals.filter(({ journal, total }) => {
    const share = state.shares.get(journal);
    return share?.status !== "settled" && total > (share?.total ?? 0);
  });
  return uncounted.length === 0 ? [] : [{ type: "UsageCarriedOver", data: { totals: uncounted, at } }];
};

export interface Holder {
  readonly journal: string;
  readonly reservation: number;
  readonly isRecalled: boolean;
}

/** The other journals that may hold unspent characters. */
export const otherHolders = (state: Quota, journal: string): Holder[] =>
  [...state.shares]
    .filter(([other, { status }]) => other !== journal && (status === "reserved" || status === "recalled"))
    .map(([other, { status, reservation }]) => ({
      journal: other,
      reservation,
      isRecalled: status === "recalled",
    }));

/**
 * @throws {JournalTakenOver} if its reservation is settled, or has another total than its process
 * knows
 */
const ownShare = (state: Quota, { journal, expected }: OwnShare): Share | undefined => {
  const share = state.shares.get(journal);
  if (share?.status === "settled" || !expected.includes(share?.stated)) throw new JournalTakenOver(journal);
  return share;
};

const sumOfFitting = (wanted: readonly number[], available: number): number => {
  let sum = 0;
  for (const characters of wanted) {
    if (sum + characters > available) break;
    sum += characters;
  }
  return sum;
};

const recentMs = 60_000;

/**
 * Decides how many characters a journal reserves: enough that a month costs few appends, and fewer
 * while other journals need characters too. The smallest slice bounds the number of appends that
 * several journals need for the last characters of the quota.
 */
const sliceOf = (state: Quota, { journal, quota, at }: ReserveCharacters, available: number): number => {
  const slice = Math.max(Math.ceil(quota / 20), Math.ceil(available / 6));
  const { lastRecall } = state;
  const isContended = lastRecall !== undefined && Date.parse(at) - Date.parse(lastRecall.at) < recentMs;
  const isShared = isContended || otherHolders(state, journal).length > 0;
  return isShared ? Math.max(Math.ceil(quota / 100), Math.min(slice, Math.ceil(available / 3))) : slice;
};
