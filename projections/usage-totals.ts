import { voidedCharge } from "../src/domain/ledger/journal/charges.ts";
import {
  type JournalEvent,
  journalPrefix,
  type SynthesesServed,
} from "../src/domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../src/domain/ledger/journal/journal-registry.ts";
import type { VoidedServing } from "../src/domain/ledger/journal/serving.ts";
import { expandServings } from "../src/domain/ledger/journal/serving-columns.ts";
import { monthOf } from "../src/domain/ledger/month.ts";
import type { Projection } from "./projection.ts";
import type { View } from "./runner/view.ts";

/** Requests with audio and charged characters. */
export interface Count {
  requests: number;
  characters: number;
}

/** The servings of all keys on one day (UTC). */
export interface DayTotals {
  /** Keys are engines. A void is subtracted from the day of its serving. */
  engines: Record<string, Count>;
  /** Keys are the sources of audio. A void does not name one, so voided servings are included. */
  served: Record<string, Count>;
  voided: Count;
}

export interface UsageTotals {
  /** Keys are days, `yyyy-mm-dd`. */
  days: Record<string, DayTotals>;
  /** Keys are months, `yyyy-mm`, then API keys. Voided servings are not included. */
  months: Record<string, Record<string, Count>>;
}

/** Two months and the last day of a third. */
const daysKept = 63;
/** The current month, and the one before while clocks differ. */
const monthsKept = 2;

const usageTotalsPartition = "all";

const initial = (): UsageTotals => ({ days: {}, months: {} });

/**
 * Counts the servings of all journals: those of all keys by day, and those of each key by month. It
 * also reads the events of the journal registry, which it ignores, so that it reaches their
 * positions.
 */
export const usageTotals: Projection<UsageTotals> = {
  name: "usage-totals",
  version: 1,
  prefixes: [journalPrefix, journalRegistryStream],
  partition: ({ stream }) => (stream.startsWith(journalPrefix) ? usageTotalsPartition : undefined),
  initial,
  apply: (totals, event) => {
    const { type, data } = event as unknown as JournalEvent;
    if (type === "SynthesesServed") addServings(totals, data);
    else if (type === "ServingsVoided") for (const voided of data.servings) addVoid(totals, voided);
    return totals;
  },
};

export const readUsageTotals = (view: View<UsageTotals>): UsageTotals =>
  view.get(usageTotalsPartition) ?? initial();

const addServings = (totals: UsageTotals, event: SynthesesServed): void => {
  const { engines, served } = dayOf(totals, event.at);
  const ofKeys = monthTotalsOf(totals, event.at);
  for (const { apiKey, engine, cached, characters } of expandServings(event)) {
    add(countOf(engines, engine), 1, characters);
    add(countOf(served, cached), 1, characters);
    add(countOf(ofKeys, apiKey), 1, characters);
  }
};

const addVoid = (totals: UsageTotals, serving: VoidedServing): void => {
  const { apiKey, engine, servedAt, requests, characters } = voidedCharge(serving);
  const { engines, voided } = dayOf(totals, servedAt);
  add(countOf(engines, engine), requests, characters);
  add(countOf(monthTotalsOf(totals, servedAt), apiKey), requests, characters);
  add(voided, 0 - requests, serving.characters);
};

const add = (count: Count, requests: number, characters: number): void => {
  count.requests += requests;
  count.characters += characters;
};

const countOf = (counts: Record<string, Count>, name: string): Count => {
  counts[name] ??= { requests: 0, characters: 0 };
  return counts[name];
};

const dayOf = ({ days }: UsageTotals, at: string): DayTotals => {
  const day = at.slice(0, 10);
  const known = days[day];
  if (known) return known;
  const totals = emptyDay();
  days[day] = totals;
  keepLatest(days, daysKept);
  return totals;
};

const monthTotalsOf = ({ months }: UsageTotals, at: string): Record<string, Count> => {
  const month = monthOf(at);
  const known = months[month];
  if (known) return known;
  const totals = {};
  months[month] = totals;
  keepLatest(months, monthsKept);
  return totals;
};

/** Keeps the latest days or months. */
const keepLatest = (byTime: Record<string, unknown>, kept: number): void => {
  for (const name of Object.keys(byTime).sort().slice(0, -kept)) delete byTime[name];
};

const emptyDay = (): DayTotals => ({
  engines: {},
  served: {},
  voided: { requests: 0, characters: 0 },
});
