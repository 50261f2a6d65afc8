import {
  openEnd,
  type Range,
  sortRanges,
  uniteRanges,
} from "../../domain/ledger/accounts/revision-ranges.ts";
import type { AccountId } from "../../domain/ledger/accounts/usage-account.ts";
import type { KnownPart } from "./known-entries.ts";

/**
 * Returns the account if its entries in an event are needed. Each event has a function of its own.
 */
export type NeededBy = (apiKey: string, month: string) => AccountId | undefined;

/** The accounts of a request, each once. */
export class SelectedAccounts {
  readonly #months = new Map<string, Map<string, AccountId>>();
  readonly all: readonly AccountId[];

  constructor(accounts: readonly AccountId[]) {
    const all: AccountId[] = [];
    for (const account of accounts) {
      const ofMonth = this.#months.get(account.month) ?? new Map<string, AccountId>();
      this.#months.set(account.month, ofMonth);
      if (ofMonth.has(account.apiKey)) continue;
      ofMonth.set(account.apiKey, account);
      all.push(account);
    }
    this.all = all;
  }

  find(apiKey: string, month: string): AccountId | undefined {
    return this.#months.get(month)?.get(apiKey);
  }
}

interface AccountPart {
  /** The last revision that is posted to the account. */
  postedUpTo: number;
  /** Entries up to this revision are posted, or summed up, or in `ranges`. */
  knownUpTo: number;
  readonly ranges: Range[];
  /** The index of the first range that does not end before the last requested revision. */
  next: number;
}

/** The events of a journal that are needed, and the accounts that need them. */
export class JournalPart {
  readonly #selected: SelectedAccounts;
  /** Everything up to this revision is posted; undefined if the whole journal is. */
  readonly #postedUpTo: number | undefined;
  readonly #accounts = new Map<AccountId, AccountPart>();

  constructor(selected: SelectedAccounts, postedUpTo: number | undefined) {
    this.#selected = selected;
    this.#postedUpTo = postedUpTo;
  }

  addPosting(account: AccountId, postedUpTo: number): void {
    const part = this.#partOf(account);
    part.postedUpTo = Math.max(part.postedUpTo, postedUpTo);
  }

  /** The revision up to which the account's entries are posted. Call it after `addPosting`. */
  postedUpTo(account: AccountId): number {
    return Math.max(this.#postedUpTo ?? -1, this.#accounts.get(account)?.postedUpTo ?? -1);
  }

  /** Call it after the account's postings were added. */
  addKnown(account: AccountId, { fromInclusive, toInclusive }: KnownPart): void {
    const posted = this.postedUpTo(account);
    if (posted + 1 < fromInclusive) this.need(account, [[posted + 1, fromInclusive - 1]]);
    const part = this.#partOf(account);
    part.knownUpTo = Math.max(part.knownUpTo, toInclusive);
  }

  need(account: AccountId, ranges: readonly Range[]): void {
    this.#partOf(account).ranges.push(...ranges);
  }

  #partOf(account: AccountId): AccountPart {
    const part = this.#accounts.get(account) ?? { postedUpTo: -1, knownUpTo: -1, ranges: [], next: 0 };
    this.#accounts.set(account, part);
    return part;
  }

  /** The needed revisions as ranges that do not overlap, in order. */
  ranges(): Range[] {
    const all: Range[] = [];
    for (const { ranges } of this.#accounts.values()) for (const range of sortRanges(ranges)) all.push(range);
    if (this.#postedUpTo !== undefined) all.push([this.#firstUnknown(this.#postedUpTo), openEnd]);
    return uniteRanges(all);
  }

  #firstUnknown(postedUpTo: number): number {
    if (this.#accounts.size < this.#selected.all.length) return postedUpTo + 1;
    let last = openEnd;
    for (const part of this.#accounts.values()) last = Math.min(last, lastOf(part));
    return Math.max(postedUpTo, last) + 1;
  }

  /** Call it after `ranges`, with revisions that do not decrease. */
  neededBy(revision: number): NeededBy {
    return (apiKey, month) => {
      const account = this.#selected.find(apiKey, month);
      return account && this.#isNeeded(account, revision) ? account : undefined;
    };
  }

  #isNeeded(account: AccountId, revision: number): boolean {
    const part = this.#accounts.get(account);
    if (
      this.#postedUpTo !== undefined &&
      revision > Math.max(this.#postedUpTo, part === undefined ? -1 : lastOf(part))
    )
      return true;
    if (!part) return false;
    while ((part.ranges[part.next]?.[1] ?? openEnd) < revision) part.next += 1;
    const [first] = part.ranges[part.next] ?? [Number.POSITIVE_INFINITY];
    return first <= revision;
  }
}

/**
 * The revision up to which the account's entries are posted or known. Later ones are only in the
 * journal's events.
 */
const lastOf = ({ postedUpTo, knownUpTo }: AccountPart): number => Math.max(postedUpTo, knownUpTo);
