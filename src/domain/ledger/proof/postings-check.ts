import { createHash, type Hash } from "node:crypto";
import { isOfType } from "../../event-shapes.ts";
import { servingOfFormat1 } from "../../log-format.ts";
import { addRevision } from "../accounts/revision-ranges.ts";
import {
  type AccountClosed,
  addUsage,
  noUsage,
  parseUsageAccountStream,
  type QuotaThresholdCrossed,
  type UsageAccountEvent,
  type UsageCount,
  type UsagePosted,
  usageAccountPrefix,
  usageAccountStream,
} from "../accounts/usage-account.ts";
import { postingId, thresholdId } from "../accounts/usage-event-ids.ts";
import { addEntries, addPosting, postedTotals, UsageSum } from "../accounts/usage-sum.ts";
import { canonicalEvent, canonicalJson, eventDigest } from "../journal/canonical.ts";
import { type JournalEvent, journalPrefix, journalTypes } from "../journal/journal.ts";
import type { JournalRegistryEvent } from "../journal/journal-registry.ts";
import { hasReached, quotaThresholds } from "../quota/quota-threshold.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import { NotGenuine, nameOf } from "./not-genuine.ts";

/** The entries of one event of a journal for one account. */
interface EventEntries {
  readonly revision: number;
  readonly digest: string;
  readonly sum: UsageSum;
}

/** The entries of one journal for one account. Posted entries are not kept. */
interface AccountEntries {
  postedUpTo: number;
  readonly unposted: EventEntries[];
}

interface AccountTotals {
  balance: UsageCount;
  voided: UsageCount;
  /** The reported thresholds. */
  readonly crossed: Set<number>;
  /** The digest over all events. */
  readonly digest: Hash;
}

const accountTypes = ["UsagePosted", "QuotaThresholdCrossed", "AccountClosed"] as const;

const noTotals = (): AccountTotals => ({
  balance: noUsage,
  voided: noUsage,
  crossed: new Set(),
  digest: createHash("sha256"),
});

/**
 * Recomputes postings and closings from the journals. Holds the totals of every account that is not
 * closed. For each journal that is not retired, it holds one sum per account and unposted event.
 */
export class PostingsCheck {
  readonly #covers: (account: string) => boolean;
  readonly #missingJournals: ReadonlySet<string>;
  /** True while a missing journal is open: it may have unposted entries of any account. */
  #isMissingOpen = false;
  readonly #journals = new Map<string, Map<string, AccountEntries>>();
  readonly #accounts = new Map<string, AccountTotals>();
  readonly #closed = new Set<string>();

  /**
   * `covers`: the accounts to check; default: all. `missingJournals`: archived journals whose
   * postings are not recomputed, because their events are missing.
   */
  constructor(
    covers: (account: string) => boolean = () => true,
    missingJournals: ReadonlySet<string> = new Set<string>(),
  ) {
    this.#covers = covers;
    this.#missingJournals = missingJournals;
  }

  /** @throws {NotGenuine} */
  add(event: ProvenEvent): void {
    if (event.stream.startsWith(journalPrefix)) this.#addJournalEvent(event);
    else if (event.stream.startsWith(usageAccountPrefix)) this.#addAccountEvent(event);
    else this.#forget(event);
  }

  /**
   * Sums up what an open account has been charged so far, including entries that are not posted
   * yet.
   */
  totalsOf(account: string): { balance: UsageCount; voided: UsageCount } {
    const unposted = new UsageSum();
    for (const { sum } of this.#unpostedTo(account)) addPosting(unposted, postedTotals(sum));
    const { balance, voided } = this.#accounts.get(account) ?? { balance: noUsage, voided: noUsage };
    return { balance: addUsage(balance, unposted), voided: addUsage(voided, unposted.voided) };
  }

  #addJournalEvent(event: ProvenEvent): void {
    if (!isOfType<JournalEvent, ProvenEvent>(event, journalTypes)) return;
    const journal = event.stream.slice(journalPrefix.length);
    if (event.type === "JournalPosted") this.#checkPosted(event, journal, event.data.through);
    const accounts = this.#journals.get(journal) ?? new Map<string, AccountEntries>();
    this.#journals.set(journal, accounts);
    addUnposted(event, accounts, this.#covers);
  }

  #addAccountEvent(event: ProvenEvent): void {
    if (event.type === servingOfFormat1)
      throw new NotGenuine(`${nameOf(event)} is a serving of log format 1, which no account counts`);
    if (!isOfType<UsageAccountEvent, ProvenEvent>(event, accountTypes)) return;
    const { stream: account } = event;
    if (this.#closed.has(account))
      throw new NotGenuine(`${nameOf(event)} follows the closing of its account`);
    const totals = this.#accounts.get(account) ?? noTotals();
    if (event.type === "UsagePosted") {
      const { journal } = event.data;
      if (!this.#missingJournals.has(journal)) checkPosting(event, this.#journals.get(journal)?.get(account));
      addToTotals(totals, event);
      this.#accounts.set(account, totals);
    } else if (event.type === "QuotaThresholdCrossed") {
      checkThreshold(event, totals, this.#chargedTo(account, totals));
      this.#accounts.set(account, totals);
    } else {
      checkClosing(event, totals);
      this.#accounts.delete(account);
      this.#closed.add(account);
    }
  }

  #forget(event: ProvenEvent): void {
    if (!isOfType<JournalRegistryEvent, ProvenEvent>(event, ["JournalOpened", "JournalRetired"])) return;
    this.#isMissingOpen = event.data.open.some((journal) => this.#missingJournals.has(journal));
    if (event.type === "JournalOpened") return;
    this.#checkPosted(event, event.data.journal, Number.POSITIVE_INFINITY);
    this.#journals.delete(event.data.journal);
  }

  /**
   * All entries up to the revision must be posted, except those that were recorded after their
   * account was closed.
   */
  #checkPosted(event: ProvenEvent, journal: string, postedUpTo: number): void {
    for (const [account, { unposted }] of this.#journals.get(journal) ?? []) {
      const [first] = unposted;
      if (first && first.revision <= postedUpTo && !this.#closed.has(account)) {
        throw new NotGenuine(`${nameOf(event)}: ${account} lacks the entries of revision ${first.revision}`);
      }
    }
  }

  /**
   * All characters that were charged up to now, including those that were voided later. Unknown,
   * and therefore unlimited, while a missing journal is open.
   */
  #chargedTo(account: string, { balance, voided }: AccountTotals): number {
    if (this.#isMissingOpen) return Number.POSITIVE_INFINITY;
    let charged = balance.characters + voided.characters;
    for (const { sum } of this.#unpostedTo(account)) charged += sum.characters + sum.voided.characters;
    return charged;
  }

  /** The account's unposted entries in all journals. */
  #unpostedTo(account: string): EventEntries[] {
    return [...this.#journals.values()].flatMap((accounts) => accounts.get(account)?.unposted ?? []);
  }
}

/** Adds the event's entries to one sum for each account. */
const addUnposted = (
  event: ProvenEvent & JournalEvent,
  accounts: Map<string, AccountEntries>,
  covers: (account: string) => boolean,
): void => {
  const { revision } = event;
  let digest: string | undefined;
  addEntries(event, (apiKey, month) => {
    const account = usageAccountStream(apiKey, month);
    if (!covers(account)) return undefined;
    digest ??= eventDigest(event);
    const entries = accounts.get(account) ?? { postedUpTo: -1, unposted: [] };
    accounts.set(account, entries);
    const last = entries.unposted.at(-1);
    if (last?.revision === revision) return last.sum;
    const sum = new UsageSum();
    entries.unposted.push({ revision, digest, sum });
    return sum;
  });
};

const checkPosting = (
  event: ProvenEvent & { readonly data: UsagePosted },
  entries: AccountEntries | undefined,
): void => {
  const { journal, from, through: postedUpTo, digest, ranges } = event.data;
  if (!entries) throw new NotGenuine(`${nameOf(event)}: journal ${journal} has no entries for this account`);
  if (from !== entries.postedUpTo + 1) {
    throw new NotGenuine(
      `${nameOf(event)} starts at revision ${from}, and should start at ${entries.postedUpTo + 1}`,
    );
  }
  const count = entries.unposted.findLastIndex(({ revision }) => revision <= postedUpTo) + 1;
  const posted = entries.unposted.splice(0, count);
  const sum = new UsageSum();
  const revisions: number[] = [];
  for (const one of posted) {
    addPosting(sum, postedTotals(one.sum));
    addRevision(revisions, one.revision);
  }
  compare(event, "digest", digest, posted.at(-1)?.digest);
  compare(event, "ranges", ranges, revisions);
  const { requests, characters, voided, cells, until } = event.data;
  compare(event, "totals", { requests, characters, voided, cells, until }, postedTotals(sum));
  const { apiKey, month } = parseUsageAccountStream(event.stream);
  compare(event, "id", event.id, postingId(journal, apiKey, month, postedUpTo));
  entries.postedUpTo = postedUpTo;
};

/** @throws {NotGenuine} if the posting claims another balance */
const addToTotals = (totals: AccountTotals, event: ProvenEvent & { readonly data: UsagePosted }): void => {
  totals.balance = addUsage(totals.balance, event.data);
  totals.voided = addUsage(totals.voided, event.data.voided);
  compare(event, "balance", event.data.balance, totals.balance);
  totals.digest.update(canonicalEvent(event));
};

/**
 * The event states the characters that were counted when the threshold was crossed. Some of them
 * may have been voided afterwards, so `charged` includes voided characters.
 */
const checkThreshold = (
  event: ProvenEvent & { readonly data: QuotaThresholdCrossed },
  { crossed, digest }: AccountTotals,
  charged: number,
): void => {
  const { threshold, characters, quota } = event.data;
  const { apiKey, month } = parseUsageAccountStream(event.stream);
  compare(event, "id", event.id, thresholdId(apiKey, month, threshold));
  const isKnown = quotaThresholds.some((one) => one === threshold);
  if (!isKnown || crossed.has(threshold) || !hasReached(threshold, characters, quota)) {
    throw new NotGenuine(
      `${nameOf(event)} reports a threshold that is not reached, or not for the first time`,
    );
  }
  if (characters > charged) {
    throw new NotGenuine(
      `${nameOf(event)} states ${characters} characters, of which ${charged} were charged`,
    );
  }
  crossed.add(threshold);
  digest.update(canonicalEvent(event));
};

const checkClosing = (
  event: ProvenEvent & { readonly data: AccountClosed },
  { balance, voided, digest }: AccountTotals,
): void => {
  const { digest: claimed, requests, characters, voided: claimedVoided } = event.data;
  compare(event, "totals", { requests, characters, voided: claimedVoided }, { ...balance, voided });
  compare(event, "digest", claimed, digest.digest("hex"));
};

const compare = (event: ProvenEvent, what: string, claimed: unknown, expected: unknown): void => {
  const [found, computed] = [canonicalJson(claimed), canonicalJson(expected)];
  if (found !== computed) {
    throw new NotGenuine(
      `${nameOf(event)} does not have the ${what} that the journals give: ${found}, not ${computed}`,
    );
  }
};
