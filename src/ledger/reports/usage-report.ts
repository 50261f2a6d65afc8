import { z } from "zod";
import { evolveKey, initialKey, type Key, type KeyEvent, keyStream } from "../../domain/accounts/key.ts";
import type { Plan } from "../../domain/accounts/plan.ts";
import { Invalid, NotFound } from "../../domain/errors.ts";
import type { UsageCount } from "../../domain/ledger/accounts/usage-account.ts";
import { addEntries, type SumOf, totalsBy, UsageSum } from "../../domain/ledger/accounts/usage-sum.ts";
import type { JournalEvent } from "../../domain/ledger/journal/journal.ts";
import { monthOf, startOfMonth } from "../../domain/ledger/month.ts";
import { instant, month as monthName } from "../../domain/ledger/period.ts";
import { sealsStream } from "../../domain/ledger/seals/seal.ts";
import type { EpochMs } from "../../domain/time.ts";
import { parse } from "../../domain/validation.ts";
import {
  type EventStore,
  eventTime,
  type RecordedEvent,
  readLastEvent,
} from "../../eventstore/event-store.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import { type AsOf, readRanges } from "../accounts/read-ranges.ts";
import type { UsageReader, UsageRequest } from "../accounts/usage-reader.ts";
import { readCorrections } from "../journal/clock-corrections.ts";
import { createMissingJournals } from "../journal/missing-journals.ts";

export interface UsageReportRequest {
  readonly apiKey: string;
  /** `yyyy-mm`, UTC. Default: the month of `asOf`. */
  readonly month?: string | undefined;
  /**
   * A date (its midnight, UTC) or an ISO 8601 time, inclusive. Default: the time of `asOfPosition`,
   * else now.
   */
  readonly asOf?: string | undefined;
  /** The position of an event, as in an audit, inclusive. With `asOf`, both limit the report. */
  readonly asOfPosition?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Charged requests and characters. `voided` has the charges that were taken back. */
export interface UsageReport extends UsageCount {
  readonly apiKey: string;
  readonly month: string;
  readonly asOf: string;
  /** The report includes every entry up to this position of the log, and none that follows. */
  readonly asOfPosition: number;
  /**
   * The charges are complete up to this time, at most `asOf`: no instance can still record an
   * earlier serving whose request succeeds. Only `voided` may grow: an append that the event store
   * delayed is voided when it is found.
   */
  readonly finalUntil: string;
  /**
   * The plan's monthly characters at that time; null: no limit. Absent if the key was not issued
   * yet.
   */
  readonly quota?: number | null;
  /** The key's plan and state at that time. Absent if the key was not issued yet. */
  readonly plan?: Plan;
  readonly status?: "active" | "suspended";
  /** The quota at the beginning of the month, and its changes in the month, up to that time. */
  readonly quotas: readonly QuotaSince[];
  readonly voided: UsageCount;
  /**
   * The usage that a wrong clock recorded under other months, or under other days of this month:
   * one item for each month that is charged. Only the report of the month in which the clock was
   * corrected has this list.
   */
  readonly corrections?: readonly CorrectedUsage[];
  readonly byDay: readonly (UsageCount & { readonly day: string })[];
  readonly byEngine: readonly (UsageCount & { readonly engine: string })[];
  readonly byVoice: readonly (UsageCount & { readonly voice: string })[];
}

interface CorrectedUsage extends UsageCount {
  /** The time at which the clock was corrected. */
  readonly at: string;
  /** The requests are charged under this month, for ever. */
  readonly month: string;
}

/** A key's quota from a time on; null: no limit. */
interface QuotaSince {
  /** The time in ISO 8601, UTC. */
  readonly at: string;
  readonly quota: number | null;
}

/**
 * A key's usage in a month, in characters and requests, as of any time or any position of the log.
 * @throws {Invalid} for a bad month, time or position
 * @throws {NotFound} for a key that was never issued
 * @throws {Archived} if needed servings, or the event at the position, were deleted after they were
 * archived
 * @throws {Unavailable} when the event store cannot be read
 */
export type ReportUsage = (request: UsageReportRequest) => Promise<UsageReport>;

export interface UsageReportParts {
  readonly store: EventStore;
  readonly accounts: Pick<UsageReader, "beginUsage">;
  readonly clock?: () => EpochMs;
  /**
   * False if the clock may differ from the event store's by more than 60 s: `finalUntil` then
   * depends on the store's times alone.
   */
  readonly isClockRight?: () => boolean;
}

/**
 * Servings older than this are final. The clocks of the recording instance and of this one may each
 * be 60 s off, in opposite directions (beyond that an instance records nothing), and an append
 * succeeds within 10 s or is voided.
 */
const finalAfterMs = 2 * 60_000 + 10_000;

const limits = z.object({
  month: monthName.optional(),
  asOf: instant.optional(),
  asOfPosition: z.int().min(0).optional(),
});

export const createUsageReport =
  (parts: UsageReportParts): ReportUsage =>
  async ({ apiKey, signal, ...request }) => {
    const query = parse(limits, request);
    return await report(parts, { apiKey, signal, ...query }).catch(throwUnavailable);
  };

interface Query extends z.infer<typeof limits> {
  readonly apiKey: string;
  readonly signal: AbortSignal | undefined;
}

const report = async (
  { store, accounts, clock = Date.now, isClockRight = () => true }: UsageReportParts,
  { apiKey, month: named, asOf: time, asOfPosition: position, signal }: Query,
): Promise<UsageReport> => {
  const now = clock();
  const positionTime = position === undefined ? undefined : await timeAt(store, position);
  const asOfMs = time ?? positionTime ?? now;
  const asOf = new Date(asOfMs).toISOString();
  const month = named ?? monthOf(asOf);
  const sealedAt = isClockRight() ? undefined : await lastSealedAt(store);
  const usage = await accounts.beginUsage({ apiKey, month }, [keyStream(apiKey)]);
  const asOfPosition = position ?? usage.end;
  const limit = { time, position: asOfPosition };
  const [{ key, quotas }, sum, corrections] = await Promise.all([
    keyAsOf(store.readStream(keyStream(apiKey), signal && { signal }), limit),
    usage.read({ asOf: limit, signal }),
    correctionsOf(store, { apiKey, month, asOf: limit, signal }),
  ]);
  const stored = sealedAt === undefined ? now : Math.max(sealedAt, await storedAt(store, asOfPosition));
  return {
    apiKey,
    month,
    asOf,
    asOfPosition,
    finalUntil: finalUntil({ now: Math.min(now, stored), asOfMs, positionTime }),
    ...(key.status !== "absent" && {
      quota: key.plan.monthlyCharacters,
      plan: key.plan,
      status: key.status,
    }),
    quotas: quotasIn(month, quotas),
    ...present(sum),
    ...(corrections.length > 0 && { corrections }),
  };
};

/**
 * Adds up the usage in the events that each correction lists. Voids in other events are not
 * subtracted.
 */
const correctionsOf = async (
  store: EventStore,
  { apiKey, month, asOf, signal }: Required<Omit<UsageRequest, "signal">> & Pick<UsageRequest, "signal">,
): Promise<CorrectedUsage[]> => {
  const found: CorrectedUsage[] = [];
  for (const { position, at, data } of await readCorrections(store)) {
    const isIncluded = position <= (asOf.position ?? position) && at <= (asOf.time ?? at);
    if (monthOf(data.at) !== month || !isIncluded) continue;
    const sums = new Map<string, UsageSum>();
    const sumOf: SumOf = (key, of) => {
      if (key !== apiKey) return undefined;
      const sum = sums.get(of) ?? new UsageSum();
      sums.set(of, sum);
      return sum;
    };
    for (const { journal, from, through } of data.journals) {
      for await (const event of readRanges(store, journal, [[from, through]], { signal }))
        addEntries(event as unknown as JournalEvent, sumOf);
    }
    for (const [of, { requests, characters }] of [...sums].sort())
      if (requests !== 0) found.push({ at: data.at, month: of, requests, characters });
  }
  return found;
};

const timeAt = async (store: EventStore, position: number): Promise<number> => {
  const event = await store.eventAt(position);
  if (event) return Date.parse(eventTime(event));
  await createMissingJournals(store).requireNone({ fromPosition: position, toPosition: position });
  throw new Invalid([{ path: ["asOfPosition"], message: "Must be the position of an event in the log." }]);
};

/**
 * Returns a time that the store's clock had passed before the report was read. Seals are an hour
 * apart.
 */
const lastSealedAt = async (store: EventStore): Promise<number> =>
  (await readLastEvent(store, sealsStream))?.created ?? 0;

/** Returns a time of the store's clock. */
const storedAt = async (store: EventStore, position: number): Promise<number> =>
  (await store.eventAt(position))?.created ?? 0;

/**
 * Servings that other instances recorded at about the time of a position may have later positions.
 */
const finalUntil = ({
  now,
  asOfMs,
  positionTime = now,
}: {
  readonly now: number;
  readonly asOfMs: number;
  readonly positionTime: number | undefined;
}): string => new Date(Math.min(asOfMs, Math.min(now, positionTime) - finalAfterMs)).toISOString();

/** The key, and every quota that it has had. */
interface KeyAsOf {
  readonly key: Key;
  readonly quotas: readonly QuotaSince[];
}

const keyAsOf = async (events: AsyncIterable<RecordedEvent>, { time, position }: AsOf): Promise<KeyAsOf> => {
  let issued = false;
  let key: Key = initialKey();
  const quotas: QuotaSince[] = [];
  for await (const event of events) {
    issued = true;
    const isLater =
      (position !== undefined && event.position > position) ||
      (time !== undefined && Date.parse(eventTime(event)) > time);
    if (isLater) continue;
    key = evolveKey(key, event as unknown as KeyEvent);
    if (key.status === "absent" || quotas.at(-1)?.quota === key.plan.monthlyCharacters) continue;
    quotas.push({ at: eventTime(event), quota: key.plan.monthlyCharacters });
  }
  if (!issued) throw new NotFound("There is no such key.");
  return { key, quotas };
};

const quotasIn = (month: string, quotas: readonly QuotaSince[]): QuotaSince[] => {
  const atStart = quotas.findLastIndex(({ at }) => Date.parse(at) <= startOfMonth(month));
  return quotas.slice(Math.max(0, atStart)).filter(({ at }) => Date.parse(at) < startOfMonth(month, 1));
};

const present = (sum: UsageSum) => ({
  characters: sum.characters,
  requests: sum.requests,
  voided: sum.voided,
  byDay: totalsBy("day", sum).map(([day, count]) => ({ day, ...count })),
  byEngine: totalsBy("engine", sum).map(([engine, count]) => ({ engine, ...count })),
  byVoice: totalsBy("voice", sum).map(([voice, count]) => ({ voice, ...count })),
});
