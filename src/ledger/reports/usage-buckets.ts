import { z } from "zod";
import { Invalid } from "../../domain/errors.ts";
import type { EpochMs } from "../../domain/time.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import type { ChargesRequest, ReadCharges } from "./charges-between.ts";
import type { ReportQueue } from "./report-queue.ts";

export const bucketWidths = ["1m", "1h", "1d"] as const;
type BucketWidth = (typeof bucketWidths)[number];

/** OpenAI's usage API has the same defaults and maximums of buckets per page. */
export const bucketLimits: Readonly<Record<BucketWidth, { seconds: number; default: number; max: number }>> =
  {
    "1m": { seconds: 60, default: 60, max: 1_440 },
    "1h": { seconds: 3_600, default: 24, max: 168 },
    "1d": { seconds: 86_400, default: 7, max: 31 },
  };

export const groupings = ["project_id", "user_id", "api_key_id", "model"] as const;
type Grouping = (typeof groupings)[number];

interface UsageKey {
  readonly apiKey: string;
  readonly websiteId: string;
}

export interface UsageBucketsRequest {
  /** Selects only this key's usage. Default: all keys. */
  readonly apiKey?: string | undefined;
  /** Unix seconds. Default of `toExclusive`: the end of the bucket of `asOf`. */
  readonly fromInclusive: number;
  readonly toExclusive?: number | undefined;
  readonly width: BucketWidth;
  readonly groupBy: readonly Grouping[];
  /** Selects only these. Default: all. */
  readonly apiKeys?: readonly string[] | undefined;
  readonly websites?: readonly string[] | undefined;
  readonly engines?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  /**
   * `nextPage` of the page before. It contains the times of the first request. The times of this
   * request are ignored.
   */
  readonly page?: string | undefined;
  /** Unix seconds, inclusive. Default: now. */
  readonly asOf?: number | undefined;
  readonly signal: AbortSignal;
}

/** Times in Unix seconds. A bucket without usage has no rows. */
export interface UsageBuckets {
  readonly asOf: number;
  readonly buckets: readonly {
    readonly fromInclusive: number;
    readonly toExclusive: number;
    readonly rows: readonly UsageRow[];
  }[];
  readonly nextPage: string | undefined;
}

/** The members by which the request does not group are null. */
export interface UsageRow {
  readonly requests: number;
  readonly characters: number;
  readonly websiteId: string | null;
  readonly apiKey: string | null;
  readonly engine: string | null;
}

/**
 * Reports usage in intervals of time, with exactly the sums of the usage reports. The first bucket
 * begins at `fromInclusive`, all others at whole days, hours or minutes (UTC).
 * @throws {Invalid} for a bad range or page
 * @throws {Unavailable}
 */
export type ReportUsageBuckets = (request: UsageBucketsRequest) => Promise<UsageBuckets>;

/**
 * Bounds the memory of a page that is grouped by key or website: with many keys it has fewer
 * buckets.
 */
const maxRows = 200_000;

interface UsageBucketsOptions {
  readonly readCharges: ReadCharges;
  /** Reports of one key wait here for their turn. */
  readonly queue: ReportQueue;
  /** All keys, or only this one, from a view. */
  readonly keys: (apiKey?: string) => readonly UsageKey[];
  readonly clock: () => EpochMs;
}

export const createUsageBuckets = (options: UsageBucketsOptions): ReportUsageBuckets => {
  const { queue, keys, clock } = options;
  return async (request) => {
    const { apiKey, signal } = request;
    const range = rangeOf(request, Math.floor(clock() / 1_000));
    const selected = selectedKeys(keys(apiKey), request);
    const page = (ended: AbortSignal) => pageOf(options.readCharges, request, range, selected, ended);
    return await (apiKey === undefined ? page(signal) : queue.run(apiKey, signal, page));
  };
};

interface TimeRange {
  readonly fromInclusive: number;
  readonly toExclusive: number;
  readonly asOf: number;
}

const pageOf = async (
  readCharges: ReadCharges,
  request: UsageBucketsRequest,
  { fromInclusive, toExclusive, asOf }: TimeRange,
  keys: readonly UsageKey[],
  signal: AbortSignal,
): Promise<UsageBuckets> => {
  const { seconds } = bucketLimits[request.width];
  const starts = startsOf({ fromInclusive, toExclusive, seconds, limit: pageLimit(request, keys.length) });
  const end = Math.min(toExclusive, nextStart(starts.at(-1) ?? fromInclusive, seconds));
  const sums = await sumCharges(readCharges, request, keys, {
    fromInclusive: fromInclusive * 1_000,
    toExclusive: end * 1_000,
    // `asOf` includes its whole second.
    asOf: asOf * 1_000 + 999,
    byDay: request.width === "1d",
    signal,
  });
  return {
    asOf,
    buckets: starts.map((start) => ({
      fromInclusive: start,
      toExclusive: Math.min(toExclusive, nextStart(start, seconds)),
      rows: rowsOf(sums.get(Math.floor(start / seconds))),
    })),
    nextPage: end < toExclusive ? encodePage([end, toExclusive, asOf]) : undefined,
  };
};

const rangeOf = (
  { fromInclusive, toExclusive, width, page, asOf: requested }: UsageBucketsRequest,
  now: number,
): TimeRange => {
  if (page !== undefined) {
    const [start, end, asOf] = decodePage(page);
    return { fromInclusive: start, toExclusive: end, asOf: Math.min(now, asOf) };
  }
  const asOf = Math.min(now, requested ?? now);
  const end = toExclusive ?? Math.max(fromInclusive + 1, nextStart(asOf, bucketLimits[width].seconds));
  if (end <= fromInclusive)
    throw new Invalid([{ path: ["end_time"], message: "end_time must be after start_time." }]);
  return { fromInclusive, toExclusive: end, asOf };
};

const nextStart = (time: number, seconds: number): number => (Math.floor(time / seconds) + 1) * seconds;

const startsOf = ({
  fromInclusive,
  toExclusive,
  seconds,
  limit,
}: Record<"fromInclusive" | "toExclusive" | "seconds" | "limit", number>): number[] => {
  const starts: number[] = [];
  for (
    let start = fromInclusive;
    start < toExclusive && starts.length < limit;
    start = nextStart(start, seconds)
  )
    starts.push(start);
  return starts;
};

const selectedKeys = (
  keys: readonly UsageKey[],
  { apiKeys, websites }: Pick<UsageBucketsRequest, "apiKeys" | "websites">,
): UsageKey[] => {
  const ids = apiKeys && new Set(apiKeys);
  const ofWebsites = websites && new Set(websites);
  return keys.filter(
    ({ apiKey, websiteId }) => (ids?.has(apiKey) ?? true) && (ofWebsites?.has(websiteId) ?? true),
  );
};

const pageLimit = ({ limit, width, groupBy }: UsageBucketsRequest, keys: number): number => {
  const requested = limit ?? bucketLimits[width].default;
  const isWide = groupBy.includes("api_key_id") || groupBy.includes("project_id");
  return isWide ? Math.max(1, Math.min(requested, Math.floor(maxRows / Math.max(1, keys)))) : requested;
};

type Rows = Map<string, { -readonly [Member in keyof UsageRow]: UsageRow[Member] }>;

/** Keys of the result are numbers of buckets, counted from the epoch. */
const sumCharges = async (
  readCharges: ReadCharges,
  { width, groupBy, engines: onlyEngines }: UsageBucketsRequest,
  keys: readonly UsageKey[],
  range: Omit<ChargesRequest, "apiKeys">,
): Promise<ReadonlyMap<number, Rows>> => {
  const websites = new Map(keys.map(({ apiKey, websiteId }) => [apiKey, websiteId]));
  const isGroupedBy = (grouping: Grouping): boolean => groupBy.includes(grouping);
  const engines = onlyEngines && new Set(onlyEngines);
  const sums = new Map<number, Rows>();
  const read = readCharges({ ...range, apiKeys: [...websites.keys()] }, (charge) => {
    const { apiKey, servedAt, engine, requests, characters } = charge;
    if (engines && !engines.has(engine)) return;
    const bucket = Math.floor(Date.parse(servedAt) / 1_000 / bucketLimits[width].seconds);
    const rows: Rows = sums.get(bucket) ?? new Map();
    sums.set(bucket, rows);
    const group = {
      websiteId: isGroupedBy("project_id") ? (websites.get(apiKey) ?? null) : null,
      apiKey: isGroupedBy("api_key_id") ? apiKey : null,
      engine: isGroupedBy("model") ? engine : null,
    };
    const name = `${group.websiteId} ${group.apiKey} ${group.engine}`;
    const row = rows.get(name) ?? { ...group, requests: 0, characters: 0 };
    rows.set(name, row);
    row.requests += requests;
    row.characters += characters;
  });
  await read.catch(throwUnavailable);
  return sums;
};

/** Sorts rows by their groups, and leaves out rows whose servings were all voided. */
const rowsOf = (rows: Rows = new Map()): UsageRow[] =>
  [...rows]
    .filter(([, { requests, characters }]) => requests !== 0 || characters !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row);

const pageToken = z.tuple([z.int().min(0), z.int().min(1), z.int().min(0)]);

/**
 * The range of the pages that follow. It grants nothing: the request alone decides whose keys are
 * shown.
 */
const encodePage = (range: z.input<typeof pageToken>): string =>
  Buffer.from(JSON.stringify(range)).toString("base64url");

const decodePage = (page: string): z.output<typeof pageToken> => {
  try {
    const [fromInclusive, toExclusive, asOf] = pageToken.parse(
      JSON.parse(Buffer.from(page, "base64url").toString()),
    );
    if (fromInclusive < toExclusive && toExclusive <= maxTime && asOf <= maxTime)
      return [fromInclusive, toExclusive, asOf];
  } catch {}
  throw new Invalid([{ path: ["page"], message: "page is not the next_page of an earlier response." }]);
};

/** This is 2100-01-01. It bounds the number of months that a report reads. */
export const maxTime = Date.UTC(2100) / 1_000;
