import pLimit from "p-limit";
import { repeatEvery } from "../../async/repeat.ts";
import { inTimeSlices } from "../../async/time-slices.ts";
import { findKeyNumber, keyNumberOf, PerKey } from "../../domain/accounts/key-numbers.ts";
import { Unavailable } from "../../domain/errors.ts";
import { type AccountId, UsageAccountIsClosed } from "../../domain/ledger/accounts/usage-account.ts";
import { addEntries, type SumOf } from "../../domain/ledger/accounts/usage-sum.ts";
import type { JournalEvent } from "../../domain/ledger/journal/journal.ts";
import { addMonths, monthOf } from "../../domain/ledger/month.ts";
import type { FlushedEvent } from "../journal/journal-flush.ts";
import { NumberLists } from "./number-lists.ts";
import { type KnownAccount, type KnownJournal, UnpostedEntries } from "./unposted-entries.ts";
import { createUsagePoster, type UsagePosterOptions } from "./usage-poster.ts";

/** A durable event of this process's journal. */
export type PostableEvent = JournalEvent &
  Pick<FlushedEvent, "revision" | "position" | "digest" | "keyNumbers">;

interface PostingsOptions extends UsagePosterOptions {
  /**
   * Called with the revision up to which all entries are posted, about once a minute and only if it
   * has changed.
   */
  readonly notePosted: (postedUpTo: number) => void;
  readonly onError: (what: string, error: unknown) => void;
  /** An account is posted when it has this many servings. Default: 1,000. */
  readonly maxServings?: number;
  /** An account is posted at the latest when its oldest entry has this age. Default: 15 minutes. */
  readonly maxAgeMs?: number;
  /** The maximum number of concurrent postings. Default: 8. */
  readonly maxConcurrent?: number;
}

const checkIntervalMs = 60_000;

interface AccountEntries {
  readonly apiKey: string;
  readonly month: string;
  /** The revision after the last posting. */
  fromInclusive: number;
  unposted: UnpostedEntries | undefined;
  /** The time at which the first of `unposted` was added, as `time` measures it. */
  addedAt: number;
  /**
   * The entries that are being posted. They stay the same until the posting has succeeded, because
   * the outcome of an append may be unknown.
   */
  posting: UnpostedEntries | undefined;
  /** The log position of the last posting; -1 before the first. */
  position: number;
  /** Settles when the queued attempt has ended. */
  queued: Promise<void> | undefined;
}

/** Sums up this process's journal and posts the sums to the accounts, in the background. */
export class Postings implements KnownJournal {
  readonly #options: Required<PostingsOptions>;
  readonly #poster: ReturnType<typeof createUsagePoster>;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #lists = new NumberLists();
  /** Keys are months. An account stays here after it is posted, with its last posted revision. */
  readonly #months = new Map<string, PerKey<AccountEntries>>();
  /** The event that is being added, and its accounts. */
  #event: Pick<PostableEvent, "revision" | "position" | "digest" | "keyNumbers"> = {
    revision: -1,
    position: -1,
    digest: "",
  };
  #touched: AccountEntries[] = [];
  #now = 0;
  #lastEntry = -1;
  #notedUpTo = -1;
  /** The revision in the last `JournalPosted`. */
  #postedUpTo = -1;
  /** The first failure of this round. After an `Unavailable`, the rest of the round is skipped. */
  #failure: unknown;
  #isStopped = false;
  readonly #endSchedule: () => void;

  constructor(options: PostingsOptions) {
    this.#options = { maxServings: 1_000, maxAgeMs: 15 * 60_000, maxConcurrent: 8, ...options };
    this.#poster = createUsagePoster(options);
    this.#limit = pLimit(this.#options.maxConcurrent);
    this.#endSchedule = repeatEvery(this.#checkInterval, options.time, async () => {
      await this.post();
      this.#forgetOldMonths();
      await this.#notePosted();
    });
  }

  /** Adds durable events, in order. */
  add(flushed: readonly PostableEvent[]): void {
    this.#now = this.#options.time.now();
    for (const event of flushed) {
      this.#event = event;
      this.#touched.length = 0;
      addEntries(event, this.#sumOf);
      if (this.#touched.length > 0) this.#lastEntry = event.revision;
      if (event.type === "JournalPosted") this.#postedUpTo = event.data.through;
      for (const account of this.#touched) if (this.#isFull(account)) void this.#enqueue(account);
    }
  }

  get toInclusive(): number {
    return this.#event.revision;
  }

  get position(): number {
    return this.#event.position;
  }

  get postedUpTo(): number {
    return this.#postedUpTo;
  }

  entriesOf({ apiKey, month }: AccountId): KnownAccount {
    const account = this.#months.get(month)?.get(findKeyNumber(apiKey) ?? -1);
    if (!account) return { fromInclusive: 0, entries: [] };
    const { fromInclusive, posting, unposted, position } = account;
    return {
      fromInclusive,
      entries: [posting, unposted].filter((entries) => entries !== undefined),
      position,
    };
  }

  /** Ends the schedule, even if entries are unposted. */
  stop(): void {
    this.#isStopped = true;
    this.#endSchedule();
  }

  /**
   * Posts the accounts that are due, and none after `stop`. Failed postings are reported and
   * repeated later.
   */
  async post(): Promise<void> {
    this.#failure = undefined;
    const posted: Promise<void>[] = [];
    const oldestAllowed = this.#options.time.now() + this.#checkInterval - this.#options.maxAgeMs;
    for await (const account of inTimeSlices(this.#accounts())) {
      if (this.#isStopped) break;
      if (this.#isDue(account, oldestAllowed)) posted.push(this.#enqueue(account));
    }
    await Promise.all(posted);
    if (this.#failure) this.#options.onError("usage could not be posted to accounts", this.#failure);
  }

  /**
   * Posts everything, and nothing after it.
   * @throws {Unavailable} if something could not be posted
   */
  async close(): Promise<void> {
    this.stop();
    this.#failure = undefined;
    for (;;) {
      const unposted = [...this.#accounts()].filter((account) => firstUnposted(account) !== undefined);
      if (unposted.length === 0) return;
      await Promise.all(unposted.map(this.#enqueue));
      if (this.#failure) throw this.#failure;
    }
  }

  readonly #sumOf: SumOf = (apiKey, month, index = -1) => {
    const account = this.#accountOf(apiKey, month, this.#event.keyNumbers?.[index] ?? keyNumberOf(apiKey));
    if (!account.unposted) {
      account.unposted = new UnpostedEntries(this.#lists);
      account.addedAt = this.#now;
    }
    account.unposted.addEvent(this.#event.revision, this.#event.digest);
    this.#touched.push(account);
    return account.unposted;
  };

  #accountOf(apiKey: string, month: string, keyNumber: number): AccountEntries {
    const known = this.#months.get(month)?.get(keyNumber);
    if (known) return known;
    const account = {
      apiKey,
      month,
      fromInclusive: 0,
      unposted: undefined,
      addedAt: 0,
      posting: undefined,
      position: -1,
      queued: undefined,
    };
    const accounts = this.#months.get(month) ?? new PerKey<AccountEntries>();
    accounts.set(keyNumber, account);
    this.#months.set(month, accounts);
    return account;
  }

  *#accounts(): Generator<AccountEntries> {
    for (const accounts of this.#months.values()) yield* accounts;
  }

  #isFull({ unposted }: AccountEntries): boolean {
    if (!unposted) return false;
    const { requests, voided } = unposted;
    // Served and voided requests both count: `requests` is their difference.
    return requests + 2 * voided.requests >= this.#options.maxServings;
  }

  /** An account that would be too old at the next check is due at this one. */
  #isDue(account: AccountEntries, oldestAllowed: number): boolean {
    const { posting, unposted, addedAt } = account;
    return (
      Boolean(posting) || (unposted !== undefined && (addedAt <= oldestAllowed || this.#isFull(account)))
    );
  }

  get #checkInterval(): number {
    return Math.min(checkIntervalMs, this.#options.maxAgeMs / 2);
  }

  /**
   * At most one posting of an account is in progress: readers would miss a posting that a later
   * posting overtook.
   */
  readonly #enqueue = (account: AccountEntries): Promise<void> => {
    account.queued ??= this.#limit(() => this.#postAccount(account)).then(() => {
      account.queued = undefined;
      if (!account.posting && this.#isFull(account)) void this.#enqueue(account);
    });
    return account.queued;
  };

  async #postAccount(account: AccountEntries): Promise<void> {
    const { apiKey, month, fromInclusive } = account;
    account.posting ??= account.unposted;
    if (account.posting === account.unposted) account.unposted = undefined;
    const { posting } = account;
    if (!posting || this.#failure instanceof Unavailable) return;
    try {
      const position = await this.#poster.post({ apiKey, month, fromInclusive, entries: posting });
      account.position = Math.max(account.position, position);
    } catch (error) {
      if (!(error instanceof UsageAccountIsClosed)) {
        this.#failure ??= error;
        return;
      }
      this.#options.onError(`usage of ${apiKey} in ${month} came after the account was closed`, error);
    }
    account.fromInclusive = posting.toInclusive + 1;
    account.posting = undefined;
    posting.release();
  }

  /**
   * Notes the revision up to which all entries are posted. Entries that are added in the meantime
   * do not matter: their revisions are at least the initial value of `first`.
   */
  async #notePosted(): Promise<void> {
    let first = this.#lastEntry + 1;
    for await (const account of inTimeSlices(this.#accounts()))
      first = Math.min(first, firstUnposted(account) ?? first);
    if (first - 1 <= this.#notedUpTo) return;
    this.#notedUpTo = first - 1;
    this.#options.notePosted(this.#notedUpTo);
  }

  /** The last servings of a month arrive soon after its end. Only a void can arrive later. */
  #forgetOldMonths(): void {
    const oldest = addMonths(monthOf(new Date(this.#options.clock()).toISOString()), -1);
    for (const [month, accounts] of this.#months) {
      if (month >= oldest) continue;
      const isPosted = Iterator.from(accounts).every((account) => firstUnposted(account) === undefined);
      if (isPosted) this.#months.delete(month);
    }
  }
}

const firstUnposted = ({ posting, unposted }: AccountEntries): number | undefined =>
  (posting ?? unposted)?.fromInclusive;
