import { z } from "zod";
import type { View } from "../../../projections/runner/runner.ts";
import {
  totalsBy,
  type UsageCount,
  type UsageTotals,
  usageTotals,
} from "../../../projections/usage-totals.ts";
import { evolveKey, initialKey, type Key, type KeyEvent, keyStream } from "../../domain/accounts/key.ts";
import { NotFound } from "../../domain/errors.ts";
import { monthOf, usageStream } from "../../domain/usage/usage.ts";
import { parse } from "../../domain/validation.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { eventTime, instant, month as monthName } from "./business-time.ts";
import { toUnavailable } from "./store-error.ts";

export interface UsageReportRequest {
  readonly apiKey: string;
  /** `yyyy-mm`, UTC. Default: the month of `asOf`. */
  readonly month?: string | undefined;
  /** A date (its midnight, UTC) or an ISO 8601 time, inclusive. Default: now. */
  readonly asOf?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Charged requests and characters. `voided` has those without audio, which are not charged. */
export interface UsageReport extends UsageCount {
  readonly apiKey: string;
  readonly month: string;
  readonly asOf: string;
  /** The plan's monthly characters at that time; null: no limit. Absent if the key was not issued yet. */
  readonly quota?: number | null;
  readonly voided: UsageCount;
  readonly byDay: readonly (UsageCount & { readonly day: string })[];
  readonly byEngine: readonly (UsageCount & { readonly engine: string })[];
  readonly byVoice: readonly (UsageCount & { readonly voice: string })[];
}

/**
 * A key's usage in a month, in characters and requests, as of any time.
 * @throws {Invalid} for a bad month or time, {NotFound} for a key that was never issued,
 * {Unavailable} when the event store cannot be read.
 */
export type ReportUsage = (request: UsageReportRequest) => Promise<UsageReport>;

export interface UsageReportParts {
  readonly store: EventStore;
  /** The live view for current reports. Without it, they are folded from the log like past ones. */
  readonly totals?: Pick<View<UsageTotals>, "get">;
  readonly clock?: () => number;
}

const times = z.object({ month: monthName.optional(), asOf: instant.optional() });

export const createUsageReport =
  (parts: UsageReportParts): ReportUsage =>
  async (request) => {
    const { asOf, month } = parse(times, request);
    try {
      return await report(parts, { apiKey: request.apiKey, month, asOf, signal: request.signal });
    } catch (error) {
      throw toUnavailable(error);
    }
  };

interface Query {
  readonly apiKey: string;
  readonly month: string | undefined;
  /** Milliseconds since the epoch. */
  readonly asOf: number | undefined;
  readonly signal: AbortSignal | undefined;
}

const report = async (
  { store, totals, clock = Date.now }: UsageReportParts,
  { apiKey, month: named, asOf: until, signal }: Query,
): Promise<UsageReport> => {
  const asOf = new Date(until ?? clock()).toISOString();
  const month = named ?? monthOf(asOf);
  const read = (name: string) => store.readStream(name, signal && { signal });
  const key = await keyAsOf(read(keyStream(apiKey)), until);
  const stream = usageStream(apiKey, month);
  const state = totals && until === undefined ? totals.get(stream) : await totalsAsOf(read(stream), until);
  const quota = key.status === "absent" ? {} : { quota: key.plan.monthlyCharacters };
  return { apiKey, month, asOf, ...quota, ...present(state ?? usageTotals.initial()) };
};

/** The fold of the live view, over the events up to that time. */
const totalsAsOf = async (events: AsyncIterable<RecordedEvent>, until?: number): Promise<UsageTotals> => {
  let state = usageTotals.initial();
  for await (const event of events) {
    if (happenedBy(event, until)) state = usageTotals.apply(state, event);
  }
  return state;
};

const keyAsOf = async (events: AsyncIterable<RecordedEvent>, until?: number): Promise<Key> => {
  let issued = false;
  let key: Key = initialKey();
  for await (const event of events) {
    issued = true;
    if (happenedBy(event, until)) key = evolveKey(key, event as unknown as KeyEvent);
  }
  if (!issued) throw new NotFound("There is no such key.");
  return key;
};

/** Events of several instances are not ordered by time, so the whole stream is read. */
const happenedBy = (event: RecordedEvent, until: number | undefined): boolean =>
  until === undefined || Date.parse(eventTime(event)) <= until;

const present = (state: UsageTotals) => {
  const byDay = totalsBy("day", state).map(([day, tally]) => ({ day, ...tally }));
  const byEngine = totalsBy("engine", state).map(([engine, tally]) => ({ engine, ...tally }));
  const byVoice = totalsBy("voice", state).map(([voice, tally]) => ({ voice, ...tally }));
  const sum = (of: keyof UsageCount) => byDay.reduce((total, day) => total + day[of], 0);
  return {
    characters: sum("characters"),
    requests: sum("requests"),
    voided: state.voided,
    byDay,
    byEngine,
    byVoice,
  };
};
