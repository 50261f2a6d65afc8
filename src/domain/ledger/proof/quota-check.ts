import type { KeyEvent } from "../../accounts/key.ts";
import { isOfType } from "../../event-shapes.ts";
import {
  parseUsageAccountStream,
  type UsageAccountEvent,
  usageAccountPrefix,
} from "../accounts/usage-account.ts";
import { type Charge, chargesOf } from "../journal/charges.ts";
import { type JournalEvent, journalPrefix, journalTypes } from "../journal/journal.ts";
import type { JournalRegistryEvent } from "../journal/journal-registry.ts";
import { monthOf } from "../month.ts";
import {
  type JournalTotal,
  parseQuotaStream,
  type Quota,
  type QuotaEvent,
  quotaDecider,
  quotaPrefix,
  quotaStream,
} from "../quota/quota.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import { NotGenuine, nameOf } from "./not-genuine.ts";

/** Repeats the prefix that `keyStream` adds in accounts/key.ts, which browsers do not load. */
export const keyPrefix = "key-";
const unlimited = Number.POSITIVE_INFINITY;

type ThresholdEvent = Extract<UsageAccountEvent, { type: "QuotaThresholdCrossed" }>;
type PlanEvent = Extract<KeyEvent, { type: "KeyIssued" | "PlanChanged" }>;

const quotaTypes = [
  "CharactersReserved",
  "ReservationReturned",
  "ReservationSettled",
  "ReservationsRecalled",
  "UsageCarriedOver",
] as const;

interface KeyPlans {
  /**
   * The quota of the current plan, and those of earlier plans that may still apply to a request.
   * `since`: the time of the plan's event.
   */
  readonly quotas: readonly { readonly quota: number; readonly since: number }[];
  /** True if a plan had a quota. The key's characters are then added up. */
  readonly isCounted: boolean;
  /**
   * True if every plan had a quota. The key's characters are then known from its first request on.
   */
  readonly isExact: boolean;
}

/**
 * A request is recorded under the plan that the instance's view showed when the request was
 * admitted. The view may lag by this time.
 */
const planLagMs = 10 * 60_000;

/**
 * Compares the reservations of monthly quotas with plans and journals. Holds the plans of all keys.
 * For keys with a quota or voids, it also holds one total per journal, until the account of the
 * month is closed.
 */
export class QuotaCheck {
  readonly #covers: (stream: string) => boolean;
  readonly #missingJournals: ReadonlySet<string>;
  readonly #plans = createPlans();
  readonly #quotas = new Map<string, Quota>();
  /**
   * The charged characters without voided ones, by journal and then by quota stream. The number is
   * too low if the key had no quota for some time.
   */
  readonly #spent = new Map<string, Map<string, number>>();
  readonly #closedJournals = new Set<string>();
  /**
   * The quota streams of closed months. An instance that was frozen for a day may still append to
   * one.
   */
  readonly #closedMonths = new Set<string>();

  /**
   * `covers`: the quota streams to check; default: all. `missingJournals`: archived journals whose
   * events are missing, so that it is unknown what they have spent.
   */
  constructor(
    covers: (stream: string) => boolean = () => true,
    missingJournals: ReadonlySet<string> = new Set<string>(),
  ) {
    this.#covers = covers;
    this.#missingJournals = missingJournals;
  }

  /** @throws {NotGenuine} */
  add(event: ProvenEvent): void {
    if (event.stream.startsWith(journalPrefix)) this.#addJournalEvent(event);
    else if (event.stream.startsWith(quotaPrefix)) this.#addQuotaEvent(event);
    else if (event.stream.startsWith(keyPrefix)) this.#plans.add(event);
    else if (event.type === "JournalRetired") this.#forget(event);
    else if (event.type === "QuotaThresholdCrossed") this.#checkThreshold(event);
    else this.#closeMonth(event);
  }

  #spentBy(journal: string, stream: string): number {
    return this.#spent.get(journal)?.get(stream) ?? 0;
  }

  #spend(journal: string, { apiKey, servedAt, characters }: Charge): void {
    const stream = quotaStream(apiKey, monthOf(servedAt));
    if (!this.#covers(stream)) return;
    // Charges of keys without a quota are not counted, but voids are. A total can be negative,
    // because a journal may void what another one has charged.
    if (characters > 0 && !this.#plans.of(apiKey)?.isCounted) return;
    const totals = this.#spent.get(journal) ?? new Map<string, number>();
    this.#spent.set(journal, totals.set(stream, (totals.get(stream) ?? 0) + characters));
  }

  #addJournalEvent(event: ProvenEvent): void {
    if (!isOfType<JournalEvent, ProvenEvent>(event, journalTypes)) return;
    const journal = event.stream.slice(journalPrefix.length);
    if (event.type === "JournalClosed") this.#closedJournals.add(journal);
    for (const charge of chargesOf(event)) this.#spend(journal, charge);
    if (event.type !== "SynthesesServed") return;
    for (const apiKey of event.data.keys) this.#checkReserved(event, journal, apiKey, monthOf(event.data.at));
  }

  /** A journal spends only what it has reserved before. */
  #checkReserved(event: ProvenEvent, journal: string, apiKey: string, month: string): void {
    const stream = quotaStream(apiKey, month);
    if (this.#plans.highestQuota(apiKey, event.created) === unlimited || !this.#covers(stream)) return;
    const reserved = Math.max(0, this.#quotas.get(stream)?.shares.get(journal)?.total ?? 0);
    const total = this.#spentBy(journal, stream);
    if (total <= reserved) return;
    throw new NotGenuine(
      `${nameOf(event)} charges ${apiKey} beyond its reservation: ${total} characters are spent in the journal, and ${stream} has ${reserved}`,
    );
  }

  #addQuotaEvent(event: ProvenEvent): void {
    if (!isOfType<QuotaEvent, ProvenEvent>(event, quotaTypes)) return;
    const { stream } = event;
    if (this.#closedMonths.has(stream)) return;
    const before = this.#quotas.get(stream) ?? quotaDecider.initial();
    const after = quotaDecider.evolve(before, event);
    this.#quotas.set(stream, after);
    const isMissing = "journal" in event.data && this.#missingJournals.has(event.data.journal);
    if (!isMissing) this.#checkTotal(event, before);
    const quota = this.#plans.highestQuota(parseQuotaStream(stream).apiKey, event.created);
    if (event.type === "CharactersReserved" && after.total > quota) {
      throw new NotGenuine(
        `${nameOf(event)} raises the reserved characters to ${after.total}, above the quota of ${quota}`,
      );
    }
  }

  #checkTotal(event: ProvenEvent & QuotaEvent, before: Quota): void {
    if (event.type === "ReservationSettled") this.#checkSettled(event, before);
    else if (event.type === "CharactersReserved" || event.type === "ReservationReturned") {
      const total = this.#spentBy(event.data.journal, event.stream);
      if (event.data.total < total) throw otherTotal(event, `at least ${total}`);
    }
  }

  #checkSettled(event: ProvenEvent & { readonly data: JournalTotal }, before: Quota): void {
    const { stream, data } = event;
    const { journal, total } = data;
    if (!this.#closedJournals.has(journal))
      throw new NotGenuine(`${nameOf(event)} settles a journal that is not closed`);
    // The characters that a retired journal has spent are forgotten once the quota stream states
    // the same number.
    const share = before.shares.get(journal);
    const isForgotten = this.#spent.get(journal)?.get(stream) === undefined && share?.status === "returned";
    const expected = isForgotten ? share.total : this.#spentBy(journal, stream);
    const isExact = this.#plans.of(parseQuotaStream(stream).apiKey)?.isExact === true;
    if (isExact ? total !== expected : total < expected) throw otherTotal(event, String(expected));
  }

  #forget(event: ProvenEvent): void {
    if (!isOfType<JournalRegistryEvent, ProvenEvent>(event, ["JournalRetired"])) return;
    const { journal } = event.data;
    const totals = this.#spent.get(journal);
    for (const [stream, total] of totals ?? []) {
      const share = this.#quotas.get(stream)?.shares.get(journal);
      if (share?.status === "returned" && share.total === total) totals?.delete(stream);
    }
    if (totals?.size === 0) this.#spent.delete(journal);
  }

  /** A threshold is a part of the quota of a plan that the key had. */
  #checkThreshold(event: ProvenEvent): void {
    if (!isOfType<ThresholdEvent, ProvenEvent>(event, ["QuotaThresholdCrossed"])) return;
    const { quota } = event.data;
    if (this.#plans.hadQuota(parseUsageAccountStream(event.stream).apiKey, quota, event.created)) return;
    throw new NotGenuine(`${nameOf(event)} states a quota of ${quota}, which the key's plan did not have`);
  }

  /** Forgets a month when it is closed: nothing is recorded in it any more. */
  #closeMonth(event: ProvenEvent): void {
    if (!isOfType<UsageAccountEvent, ProvenEvent>(event, ["AccountClosed"])) return;
    const stream = `${quotaPrefix}${event.stream.slice(usageAccountPrefix.length)}`;
    this.#closedMonths.add(stream);
    this.#quotas.delete(stream);
    for (const totals of this.#spent.values()) totals.delete(stream);
  }
}

const createPlans = () => {
  const keys = new Map<string, KeyPlans>();

  /** The quotas that applied at this time, or at most `planLagMs` earlier. */
  const applicable = ({ quotas }: KeyPlans, time: number): KeyPlans["quotas"] =>
    quotas.filter((_, index) => (quotas[index + 1]?.since ?? time) >= time - planLagMs);

  return {
    add: (event: ProvenEvent): void => {
      if (!isOfType<PlanEvent, ProvenEvent>(event, ["KeyIssued", "PlanChanged"])) return;
      const apiKey = event.stream.slice(keyPrefix.length);
      const known = keys.get(apiKey) ?? { quotas: [], isCounted: false, isExact: true };
      const { monthlyCharacters } = event.data.plan;
      const quota = { quota: monthlyCharacters ?? unlimited, since: event.created };
      keys.set(apiKey, {
        quotas: [...applicable(known, event.created), quota],
        isCounted: known.isCounted || monthlyCharacters !== null,
        isExact: known.isExact && monthlyCharacters !== null,
      });
    },
    of: (apiKey: string): KeyPlans | undefined => keys.get(apiKey),
    /** True if the quota may have applied at this time; also for a key that is not known. */
    hadQuota: (apiKey: string, quota: number, time: number): boolean => {
      const known = keys.get(apiKey);
      return !known || applicable(known, time).some((one) => one.quota === quota);
    },
    /** The highest quota that may have applied to a request that was recorded at this time. */
    highestQuota: (apiKey: string, time: number): number => {
      const known = keys.get(apiKey);
      return known ? Math.max(...applicable(known, time).map(({ quota }) => quota)) : unlimited;
    },
  };
};

const otherTotal = (event: ProvenEvent & { readonly data: JournalTotal }, expected: string): NotGenuine =>
  new NotGenuine(
    `${nameOf(event)} states ${event.data.total} characters for journal ${event.data.journal}, which has spent ${expected}`,
  );
