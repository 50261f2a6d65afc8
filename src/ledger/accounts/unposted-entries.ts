import { isInRange } from "../../domain/ledger/accounts/revision-ranges.ts";
import type { AccountId } from "../../domain/ledger/accounts/usage-account.ts";
import { UsageSum } from "../../domain/ledger/accounts/usage-sum.ts";
import type { NumberList, NumberLists } from "./number-lists.ts";

/**
 * Entries of one key and month that are to be posted together. Mutable: it is on the path of every
 * serving.
 */
export class UnpostedEntries extends UsageSum implements NumberList {
  /** The revisions of the first and the last event with an entry; -1 without any. */
  fromInclusive = -1;
  toInclusive = -1;
  /** The digest of the last event. */
  digest = "";
  #lastRangeFirst = -1;
  readonly #lists: NumberLists;
  /**
   * The list has two distances for each range but the last: from its first to its last revision,
   * and from there to the next range.
   */
  firstBlock = 0;
  lastBlock = 0;
  usedBytes = 0;

  /** `lists`: shared by all entries. */
  constructor(lists: NumberLists) {
    super();
    this.#lists = lists;
  }

  /** Adds an event with entries. Its revision must be later than those before. */
  addEvent(revision: number, digest: string): void {
    if (this.fromInclusive < 0) {
      this.fromInclusive = revision;
      this.#lastRangeFirst = revision;
    } else if (!isInRange(revision, this.toInclusive)) {
      this.#lists.append(this, this.toInclusive - this.#lastRangeFirst);
      this.#lists.append(this, revision - this.toInclusive);
      this.#lastRangeFirst = revision;
    }
    this.toInclusive = revision;
    this.digest = digest;
  }

  /** The ranges in the form of `UsagePosted`. */
  get ranges(): number[] {
    const ranges = [this.fromInclusive];
    for (const distance of this.#lists.read(this)) ranges.push((ranges.at(-1) as number) + distance);
    ranges.push(this.toInclusive);
    return ranges;
  }

  /**
   * Frees the memory of the ranges. Afterwards `ranges` is a single one, from the first event to
   * the last.
   */
  release(): void {
    this.#lists.clear(this);
  }
}

/**
 * What this process knows of a journal's unposted entries without reading it, up to a last
 * revision.
 */
export interface KnownJournal {
  /** The last revision; -1 without events. */
  readonly toInclusive: number;
  /** A log position at or after that of the last revision. */
  readonly position: number;
  /**
   * The revision in the last `JournalPosted` up to `toInclusive`; -1 without one; undefined if it
   * is not known.
   */
  readonly postedUpTo: number | undefined;
  entriesOf(account: AccountId): KnownAccount;
}

/** One account's entries in a journal. */
export interface KnownAccount {
  /** From this revision up to the last known one, `entries` has all entries that are not posted. */
  readonly fromInclusive: number;
  /** The entries in order. They grow. */
  readonly entries: readonly UnpostedEntries[];
  /**
   * The log position of the account's last posting, if posted entries are left out of `entries`.
   */
  readonly position?: number;
}
