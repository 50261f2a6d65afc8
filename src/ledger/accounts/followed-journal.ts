import { inTimeSlices } from "../../async/time-slices.ts";
import type { AccountId } from "../../domain/ledger/accounts/usage-account.ts";
import { addEntries, type SumOf } from "../../domain/ledger/accounts/usage-sum.ts";
import type { JournalEvent } from "../../domain/ledger/journal/journal.ts";
import type { RecordedEvent } from "../../eventstore/event-store.ts";
import { NumberLists } from "./number-lists.ts";
import { type KnownAccount, type KnownJournal, UnpostedEntries } from "./unposted-entries.ts";

/**
 * The most servings whose entries are kept as one sum. If only a part of a sum is unposted, or
 * included in a report, its entries are read from events instead.
 */
const maxServingsTogether = 200;
/**
 * An account is posted after 1,000 servings. More are unposted only while its process cannot reach
 * the event store.
 */
const maxServings = 4_000;

interface FollowedAccount {
  /** The entries up to this revision are not kept; -1 if all are kept. */
  forgottenUpTo: number;
  readonly entries: UnpostedEntries[];
}

/** Keeps the unposted entries of another process's journal, from its events. */
export class FollowedJournal implements KnownJournal {
  #fromInclusive: number;
  #toInclusive: number;
  #position = -1;
  #postedUpTo: number | undefined;
  readonly #months = new Map<string, Map<string, FollowedAccount>>();
  readonly #lists = new NumberLists();
  #size = 0;

  /** `postedUpTo`: the revision up to which everything is posted; undefined if it is not known. */
  constructor(fromInclusive: number, postedUpTo = fromInclusive === 0 ? -1 : undefined) {
    this.#fromInclusive = fromInclusive;
    this.#toInclusive = fromInclusive - 1;
    this.#postedUpTo = postedUpTo;
  }

  /** The entries from this revision on are known. */
  get fromInclusive(): number {
    return this.#fromInclusive;
  }

  get toInclusive(): number {
    return this.#toInclusive;
  }

  get position(): number {
    return this.#position;
  }

  get postedUpTo(): number | undefined {
    return this.#postedUpTo;
  }

  /** The number of sums that are kept. */
  get size(): number {
    return this.#size;
  }

  /** Adds the next event. Has no effect if it was added before. */
  add(event: JournalEvent & RecordedEvent): void {
    const { revision, position } = event;
    if (revision <= this.#toInclusive) return;
    this.#toInclusive = revision;
    this.#position = position;
    const sumOf: SumOf = (apiKey, month) => this.#entriesFor(apiKey, month, revision);
    addEntries(event, sumOf);
    if (event.type !== "JournalPosted" || event.data.through <= (this.#postedUpTo ?? -1)) return;
    this.#postedUpTo = event.data.through;
    void this.#forgetPosted(event.data.through);
  }

  /**
   * Adds an earlier part of the same journal. Returns false if revisions between the two parts are
   * missing.
   */
  prepend(earlier: FollowedJournal): boolean {
    if (earlier.#toInclusive + 1 !== this.#fromInclusive) return false;
    for (const [month, accounts] of earlier.#months) {
      for (const [apiKey, { forgottenUpTo, entries }] of accounts) {
        const account = this.#accountOf(apiKey, month);
        // The account has forgotten its first entries: earlier ones would leave a gap.
        if (account.forgottenUpTo >= 0) continue;
        account.forgottenUpTo = forgottenUpTo;
        account.entries.unshift(...entries);
        this.#size += entries.length;
      }
    }
    this.#fromInclusive = earlier.#fromInclusive;
    this.#postedUpTo ??= earlier.#postedUpTo;
    return true;
  }

  entriesOf({ apiKey, month }: AccountId): KnownAccount {
    const account = this.#months.get(month)?.get(apiKey);
    const fromInclusive = Math.max(this.#fromInclusive, (account?.forgottenUpTo ?? -1) + 1);
    return { fromInclusive, entries: account?.entries ?? [] };
  }

  #accountOf(apiKey: string, month: string): FollowedAccount {
    const accounts = this.#months.get(month) ?? new Map<string, FollowedAccount>();
    this.#months.set(month, accounts);
    const account = accounts.get(apiKey) ?? { forgottenUpTo: -1, entries: [] };
    accounts.set(apiKey, account);
    return account;
  }

  #entriesFor(apiKey: string, month: string, revision: number): UnpostedEntries {
    const account = this.#accountOf(apiKey, month);
    let latest = account.entries.at(-1);
    if (latest === undefined || servingsOf(latest) >= maxServingsTogether) {
      latest = new UnpostedEntries(this.#lists);
      account.entries.push(latest);
      this.#size += 1;
      if (account.entries.length * maxServingsTogether > maxServings) this.#forgetFirst(account);
    }
    latest.addEvent(revision, "");
    return latest;
  }

  #forgetFirst(account: FollowedAccount): void {
    const forgotten = account.entries.shift();
    if (!forgotten) return;
    account.forgottenUpTo = forgotten.toInclusive;
    forgotten.release();
    this.#size -= 1;
  }

  async #forgetPosted(postedUpTo: number): Promise<void> {
    for (const accounts of this.#months.values()) {
      for await (const [apiKey, account] of inTimeSlices(accounts)) {
        while ((account.entries[0]?.toInclusive ?? Number.POSITIVE_INFINITY) <= postedUpTo)
          this.#forgetFirst(account);
        if (account.entries.length === 0) accounts.delete(apiKey);
      }
    }
  }
}

/** Returns the number of servings and voids. `requests` is their difference. */
const servingsOf = ({ requests, voided }: UnpostedEntries): number => requests + 2 * voided.requests;
