import { never } from "../../never.ts";
import {
  type Checked,
  count,
  type DataOf,
  type EventOf,
  integer,
  listOf,
  object,
  text,
  utcTime,
} from "../../shape.ts";

const usageCount = object({ requests: integer, characters: integer });
export type UsageCount = Checked<typeof usageCount>;

/**
 * Requests and characters may be negative: a serving may be voided in a later range than its own.
 */
const usageCell = object({
  /** `yyyy-mm-dd` */
  day: text,
  engine: text,
  voice: text,
  requests: integer,
  characters: integer,
});
export type UsageCell = Checked<typeof usageCell>;

/**
 * One key's usage in one month, summed up from the journals. Stream `usage-{apiKey}-{yyyy-mm}`. The
 * month and the days are those of the servings, in UTC.
 */
export const usageAccountShapes = {
  /**
   * The key's entries in a range of a journal's revisions. Entries of other months in the range are
   * not included.
   */
  UsagePosted: {
    journal: text,
    /**
     * The first and the last revision of the range, inclusive. The range follows that of the
     * journal's previous posting to this account. `through` is the revision of the key's last
     * entry.
     */
    from: count,
    through: count,
    /**
     * The revisions that hold the key's entries, as ranges in order: first, last, first, last.
     * Short gaps are included. A reader of one key's entries skips all other revisions.
     */
    ranges: listOf(count),
    /**
     * SHA-256 (hex) of the canonical form of the journal's event at `through`. The event contains
     * the digest of its predecessor, so this digest covers the whole range.
     */
    digest: text,
    requests: integer,
    characters: integer,
    /** Voided servings, which the totals do not include. */
    voided: usageCount,
    /** The totals by day, engine and voice. */
    cells: listOf(usageCell),
    /** The account's totals after this posting. */
    balance: usageCount,
    /** The time of the key's last entry in the range. */
    until: utcTime,
    at: utcTime,
  },
  /**
   * The key's characters of the month have reached a part of its quota. At most one event per
   * threshold.
   */
  QuotaThresholdCrossed: {
    /** Percent of the quota. */
    threshold: count,
    /** The characters of the month, without voided ones, when this was noticed. */
    characters: count,
    /** The monthly quota of the key's plan at that time. */
    quota: count,
    at: utcTime,
  },
  /** The totals of the month. Nothing is posted after this event. */
  AccountClosed: {
    requests: integer,
    characters: integer,
    voided: usageCount,
    /** SHA-256 (hex) over the canonical forms of all earlier events of the account, in order. */
    digest: text,
    at: utcTime,
  },
};
export type UsageAccountEvent = EventOf<typeof usageAccountShapes>;
export type UsagePosted = DataOf<typeof usageAccountShapes.UsagePosted>;
export type QuotaThresholdCrossed = DataOf<typeof usageAccountShapes.QuotaThresholdCrossed>;
export type AccountClosed = DataOf<typeof usageAccountShapes.AccountClosed>;

export const usageAccountPrefix = "usage-";

export const usageAccountStream = (apiKey: string, month: string): string =>
  `${usageAccountPrefix}${apiKey}-${month}`;

/** The key and the month of an account. */
export interface AccountId {
  readonly apiKey: string;
  /** `yyyy-mm` */
  readonly month: string;
}

export const parseUsageAccountStream = (stream: string): AccountId => ({
  apiKey: stream.slice(usageAccountPrefix.length, -"-yyyy-mm".length),
  month: stream.slice(-"yyyy-mm".length),
});

/** An account's totals. */
export interface UsageAccount extends UsageCount {
  readonly status: "open" | "closed";
  readonly voided: UsageCount;
  /** The time of the last event; empty before the first. */
  readonly at: string;
}

export const noUsage: UsageCount = { requests: 0, characters: 0 };

export const initialUsageAccount = (): UsageAccount => ({
  ...noUsage,
  status: "open",
  voided: noUsage,
  at: "",
});

export const evolveUsageAccount = (account: UsageAccount, event: UsageAccountEvent): UsageAccount => {
  switch (event.type) {
    case "UsagePosted": {
      const { voided, at } = event.data;
      return { ...account, ...addUsage(account, event.data), voided: addUsage(account.voided, voided), at };
    }
    case "QuotaThresholdCrossed":
      return { ...account, at: event.data.at };
    case "AccountClosed":
      return { ...account, status: "closed", at: event.data.at };
    default:
      return never(event, account);
  }
};

export const addUsage = (one: UsageCount, other: UsageCount): UsageCount => ({
  requests: one.requests + other.requests,
  characters: one.characters + other.characters,
});

export const sumUsage = (counts: Iterable<UsageCount>): UsageCount =>
  Iterator.from(counts).reduce(addUsage, noUsage);

export const usageAccountDecider = { initial: initialUsageAccount, evolve: evolveUsageAccount };

/** Closes the month. `digest` is that of all events of the account. */
export const closeUsageAccount = (
  { status, requests, characters, voided, at: last }: UsageAccount,
  { digest, at }: { readonly digest: string; readonly at: string },
): UsageAccountEvent[] =>
  status === "closed"
    ? []
    : [{ type: "AccountClosed", data: { requests, characters, voided, digest, at: later(last, at) } }];

/**
 * The part of an account that one journal's next posting depends on. The last events of the account
 * suffice to know it.
 */
export interface PostingState {
  readonly closed: boolean;
  /** The last posted revision of the journal, -1 before the first posting. */
  readonly through: number;
  readonly balance: UsageCount;
  /** The time of the last event; empty before the first. */
  readonly at: string;
}

export const postingDecider = (journal: string) => ({
  initial: (): PostingState => ({ closed: false, through: -1, balance: noUsage, at: "" }),
  evolve: (state: PostingState, event: UsageAccountEvent): PostingState => {
    switch (event.type) {
      case "UsagePosted": {
        const { balance, at } = event.data;
        const through = event.data.journal === journal ? event.data.through : state.through;
        return { ...state, balance, at, through };
      }
      case "QuotaThresholdCrossed":
        return { ...state, at: event.data.at };
      case "AccountClosed":
        return { ...state, closed: true, at: event.data.at };
      default:
        return never(event, state);
    }
  },
});

/** Usage was posted to a closed account. */
export class UsageAccountIsClosed extends Error {
  override readonly name = "UsageAccountIsClosed";
}

/** The range of a posting does not follow that of the journal's previous posting. */
export class PostingOutOfOrder extends Error {
  override readonly name = "PostingOutOfOrder";

  constructor({ journal, from, through }: Pick<UsagePosted, "journal" | "from" | "through">, posted: number) {
    super(
      `the posting of revisions ${from} to ${through} of journal ${journal} does not follow revision ${posted}`,
    );
  }
}

/**
 * Posts usage. Returns no event if the range is already posted.
 * @throws {UsageAccountIsClosed}
 * @throws {PostingOutOfOrder}
 */
export const postUsage = (
  state: PostingState,
  posting: Omit<UsagePosted, "balance">,
): Extract<UsageAccountEvent, { type: "UsagePosted" }>[] => {
  if (posting.through <= state.through) return [];
  if (state.closed)
    throw new UsageAccountIsClosed(`journal ${posting.journal} has usage for a closed account`);
  if (posting.from !== state.through + 1) throw new PostingOutOfOrder(posting, state.through);
  const data = { ...posting, balance: addUsage(state.balance, posting), at: later(state.at, posting.at) };
  return [{ type: "UsagePosted", data }];
};

/** Times never go backwards within an account. */
export const later = (one: string, other: string): string => (one > other ? one : other);
