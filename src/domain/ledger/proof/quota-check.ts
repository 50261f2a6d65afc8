import type { KeyEvent } from "../../accounts/key.ts";
import { type JournalEvent, journalPrefix } from "../journal.ts";
import type { JournalRegistryEvent } from "../journal-registry.ts";
import { monthOf } from "../month.ts";
import type { ProvenEvent } from "../proven-event.ts";
import {
  type JournalTotal,
  parseQuotaStream,
  type Quota,
  type QuotaEvent,
  quotaDecider,
  quotaPrefix,
  quotaStream,
} from "../quota.ts";
import {
  parseUsageAccountStream,
  type UsageAccountEvent,
  usageAccountPrefix,
} from "../usage-accounts/usage-account.ts";
import { isOfType } from "./event-type.ts";
import { journalTypes } from "./journal-chains.ts";
import { NotGenuine, nameOf } from "./not-genuine.ts";

/** As in accounts/key.ts, which browsers do not load. */
export const keyPrefix = "key-";
const unlimited = Number.POSITIVE_INFINITY;
const quotaTypes = [
  "CharactersReserved",
  "ReservationReturned",
  "ReservationSettled",
  "ReservationsRecalled",
  "UsageCarriedOver",
] as const;

interface KeyPlans {
  /** The quotas of the current plan and of those that may still apply to a request, with the times of their events. */
  readonly quotas: readonly { readonly quota: number; readonly since: number }[];
  /** A plan had a quota, so what the key spends is added up. */
  readonly isCounted: boolean;
  /** Every plan had a quota: what the key has spent is known from its first request on. */
  readonly isExact: boolean;
}

/** A request is recorded under the plan that its key had when it was admitted, by an instance whose view may lag. */
const planLagMs = 10 * 60_000;

/**
 * Compares the reservations of monthly quotas with plans and journals. Holds the plans of all keys; and, for keys with a quota,
 * one total per journal until the account of the month is closed. `covers`: the quota streams to check; default: all.
 */
export const createQuotaCheck = (covers: (stream: string) => boolean = () => true) => {
  const plans = createPlans();
  const quotas = new Map<string, Quota>();
  /** By journal and quota stream, the charged characters without the voided ones. */
  const spent = new Map<string, Map<string, number>>();
  const closedJournals = new Set<string>();
  /** The quota streams of closed months. An instance that was frozen for a day may still append to one. */
  const closedMonths = new Set<string>();

  const spentBy = (journal: string, stream: string): number => spent.get(journal)?.get(stream) ?? 0;

  const spend = (journal: string, apiKey: string, month: string, characters: number): void => {
    const stream = quotaStream(apiKey, month);
    if (!plans.of(apiKey)?.isCounted || !covers(stream)) return;
    const totals = spent.get(journal) ?? new Map<string, number>();
    spent.set(journal, totals.set(stream, (totals.get(stream) ?? 0) + characters));
  };

  const addJournalEvent = (event: ProvenEvent): void => {
    if (!isOfType<JournalEvent, ProvenEvent>(event, journalTypes)) return;
    const journal = event.stream.slice(journalPrefix.length);
    if (event.type === "JournalClosed") closedJournals.add(journal);
    else if (event.type === "SynthesesServed") {
      const { keys, key, characters, at } = event.data;
      for (const [index, count] of characters.entries()) {
        spend(journal, keys[key[index] as number] as string, monthOf(at), count);
      }
      for (const apiKey of keys) checkReserved(event, { journal, apiKey, month: monthOf(at) });
    } else if (event.type === "ServingsVoided") {
      for (const { apiKey, characters, servedAt } of event.data.servings) {
        spend(journal, apiKey, monthOf(servedAt), -characters);
      }
    }
  };

  /** A journal spends only what it has reserved before. */
  const checkReserved = (
    event: ProvenEvent,
    { journal, apiKey, month }: { readonly journal: string; readonly apiKey: string; readonly month: string },
  ): void => {
    const stream = quotaStream(apiKey, month);
    if (plans.highestQuota(apiKey, event.created) === unlimited || !covers(stream)) return;
    const reserved = Math.max(0, quotas.get(stream)?.shares.get(journal)?.total ?? 0);
    const total = spentBy(journal, stream);
    if (total <= reserved) return;
    throw new NotGenuine(
      `${nameOf(event)} charges ${apiKey} beyond its reservation: ${total} characters are spent in the journal, and ${stream} has ${reserved}`,
    );
  };

  const addQuotaEvent = (event: ProvenEvent): void => {
    if (!isOfType<QuotaEvent, ProvenEvent>(event, quotaTypes)) return;
    const { stream } = event;
    if (closedMonths.has(stream)) return;
    const before = quotas.get(stream) ?? quotaDecider.initial();
    const after = quotaDecider.evolve(before, event);
    quotas.set(stream, after);
    if (event.type === "ReservationSettled") checkSettled(event, before);
    else if (event.type === "CharactersReserved" || event.type === "ReservationReturned") {
      const total = spentBy(event.data.journal, stream);
      if (event.data.total < total) throw otherTotal(event, `at least ${total}`);
    }
    const quota = plans.highestQuota(parseQuotaStream(stream).apiKey, event.created);
    if (event.type === "CharactersReserved" && after.total > quota) {
      throw new NotGenuine(
        `${nameOf(event)} raises the reserved characters to ${after.total}, above the quota of ${quota}`,
      );
    }
  };

  const checkSettled = (event: ProvenEvent & { readonly data: JournalTotal }, before: Quota): void => {
    const { stream, data } = event;
    const { journal, total } = data;
    if (!closedJournals.has(journal))
      throw new NotGenuine(`${nameOf(event)} settles a journal that is not closed`);
    // What a retired journal has spent is forgotten once the stream says the same.
    const share = before.shares.get(journal);
    const isForgotten = spent.get(journal)?.get(stream) === undefined && share?.status === "returned";
    const expected = isForgotten ? share.total : spentBy(journal, stream);
    const isExact = plans.of(parseQuotaStream(stream).apiKey)?.isExact === true;
    if (isExact ? total !== expected : total < expected) throw otherTotal(event, String(expected));
  };

  const retire = (event: ProvenEvent): void => {
    if (!isOfType<JournalRegistryEvent, ProvenEvent>(event, ["JournalRetired"])) return;
    const { journal } = event.data;
    const totals = spent.get(journal);
    for (const [stream, total] of totals ?? []) {
      const share = quotas.get(stream)?.shares.get(journal);
      if (share?.status === "returned" && share.total === total) totals?.delete(stream);
    }
    if (totals?.size === 0) spent.delete(journal);
  };

  /** A threshold is a part of the quota of a plan that the key had. */
  const checkThreshold = (event: ProvenEvent): void => {
    if (!isOfType<UsageAccountEvent, ProvenEvent>(event, ["QuotaThresholdCrossed"])) return;
    if (event.type !== "QuotaThresholdCrossed") return;
    const { quota } = event.data;
    if (plans.hadQuota(parseUsageAccountStream(event.stream).apiKey, quota, event.created)) return;
    throw new NotGenuine(`${nameOf(event)} states a quota of ${quota}, which the key's plan did not have`);
  };

  /** Nothing is recorded in a closed month. */
  const closeMonth = (event: ProvenEvent): void => {
    if (!isOfType<UsageAccountEvent, ProvenEvent>(event, ["AccountClosed"])) return;
    const stream = `${quotaPrefix}${event.stream.slice(usageAccountPrefix.length)}`;
    closedMonths.add(stream);
    quotas.delete(stream);
    for (const totals of spent.values()) totals.delete(stream);
  };

  return {
    /** @throws {NotGenuine} */
    add: (event: ProvenEvent): void => {
      if (event.stream.startsWith(journalPrefix)) addJournalEvent(event);
      else if (event.stream.startsWith(quotaPrefix)) addQuotaEvent(event);
      else if (event.stream.startsWith(keyPrefix)) plans.add(event);
      else if (event.type === "JournalRetired") retire(event);
      else if (event.type === "QuotaThresholdCrossed") checkThreshold(event);
      else closeMonth(event);
    },
  };
};

const createPlans = () => {
  const keys = new Map<string, KeyPlans>();

  /** Those that applied at some time within the lag before this time. */
  const applicable = ({ quotas }: KeyPlans, time: number): KeyPlans["quotas"] =>
    quotas.filter((_, index) => (quotas[index + 1]?.since ?? time) >= time - planLagMs);

  return {
    add: (event: ProvenEvent): void => {
      if (
        !isOfType<Extract<KeyEvent, { type: "KeyIssued" | "PlanChanged" }>, ProvenEvent>(event, [
          "KeyIssued",
          "PlanChanged",
        ])
      )
        return;
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
