import type { Logger } from "pino";
import { catalog } from "../../../projections/catalog.ts";
import { credentials } from "../../../projections/credentials.ts";
import { deliveries } from "../../../projections/deliveries.ts";
import { keys } from "../../../projections/keys.ts";
import { lexicons } from "../../../projections/lexicons.ts";
import { malformedEventsIn } from "../../../projections/malformed-events.ts";
import { pageScripts } from "../../../projections/page-scripts.ts";
import { platforms } from "../../../projections/platforms.ts";
import { hasPrefix, type Projection } from "../../../projections/projection.ts";
import { rate } from "../../../projections/rate.ts";
import {
  createProjectionRunner,
  type ProjectionRunner,
  type RunnerOptions,
} from "../../../projections/runner/runner.ts";
import type { SnapshotStore } from "../../../projections/runner/snapshot-store.ts";
import { samples } from "../../../projections/samples.ts";
import { suspensionCounts } from "../../../projections/suspension-counts.ts";
import { suspensions } from "../../../projections/suspensions.ts";
import { usageTotals } from "../../../projections/usage-totals.ts";
import { verifiedOrigins } from "../../../projections/verified-origins.ts";
import { webhooks } from "../../../projections/webhooks.ts";
import { websites } from "../../../projections/websites.ts";
import { exponentialBackoff, type RetryOptions, retry } from "../../async/retry.ts";
import { backgroundTime } from "../../async/time.ts";
import type { WebsiteEvent } from "../../domain/accounts/website.ts";
import { isKnownStream } from "../../domain/event-shapes.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { validatedEventStore } from "../../eventstore/validated-event-store.ts";
import { positionBefore } from "../../ledger/audit/log-period.ts";
import { createErrorLog } from "../observability.ts";

/** The views that hold names and origins of websites. */
export const websiteViews: readonly Projection<unknown>[] = [websites, verifiedOrigins];

/**
 * Views that requests need. A request is refused unless they are current, and the service is
 * unhealthy if one of them fails.
 */
const serving: readonly Projection<unknown>[] = [...websiteViews, keys, catalog, rate, credentials, lexicons];
/**
 * Views that only hints, webhooks, reports and pinned scripts need. If one of them fails, the
 * service continues to serve and reports that it is degraded.
 */
const reporting: readonly Projection<unknown>[] = [
  platforms,
  webhooks,
  deliveries,
  suspensions,
  suspensionCounts,
  samples,
  pageScripts,
];

/** Malformed events of trimmed streams are logged but not counted: they expire. */
export const malformedEvents = malformedEventsIn(
  [...new Set([...serving, ...reporting].flatMap(({ prefixes }) => prefixes))].filter(
    (prefix) => !rate.prefixes.includes(prefix),
  ),
);

export const isServing = (projection: string): boolean => serving.some(({ name }) => name === projection);

/**
 * Creates one runner for all of these views: they share one subscription, so that a request sees
 * them at one position of the log. Their size depends on accounts and settings, so a start waits
 * for them. Returns the runner, the event store that reports its appends to the runner, and the
 * number of malformed events that were read through that store from streams of no view.
 */
export const composeViews = (
  opened: EventStore,
  {
    log,
    except,
    snapshots,
    startTimeoutMs,
  }: Pick<RunnerOptions, "except"> & {
    readonly log: Logger;
    readonly snapshots: SnapshotStore;
    readonly startTimeoutMs: number;
  },
): {
  readonly runner: ProjectionRunner;
  readonly store: EventStore;
  readonly malformedElsewhere: () => number;
} => {
  const onMalformed = reportMalformed(log);
  const elsewhere = countOnce([...malformedEvents.prefixes, ...rate.prefixes], onMalformed);
  const runner = createProjectionRunner({
    store: validatedEventStore(opened, { onMalformed }),
    projections: [...serving, ...reporting, malformedEvents],
    trimmedPrefixes: rate.prefixes,
    except,
    snapshots,
    erasures: ["WebsiteErased" satisfies WebsiteEvent["type"]],
    startTimeoutMs,
    onError: createErrorLog(log),
  });
  const append: EventStore["append"] = async (stream, events, expected) => {
    const end = await opened.append(stream, events, expected);
    runner.noteAppended(stream, end.position);
    return end;
  };
  const store = validatedEventStore(opened, { onMalformed: elsewhere.add });
  return { runner, store: { ...store, append }, malformedElsewhere: elsewhere.count };
};

/** More malformed events are not told apart from earlier ones. */
const maxCountedOnce = 10_000;

/** Counts and reports each malformed event once, except those of streams that the views count. */
const countOnce = (countedPrefixes: readonly string[], report: (event: RecordedEvent) => void) => {
  const positions = new Set<number>();
  return {
    add: (event: RecordedEvent): void => {
      const { stream, position } = event;
      if (!isKnownStream(stream) || hasPrefix(stream, countedPrefixes) || positions.has(position)) return;
      if (positions.size >= maxCountedOnce) return;
      positions.add(position);
      report(event);
    },
    count: (): number => positions.size,
  };
};

/** The totals cover at least this time when they are read for the first time. */
const countedMs = 32 * 24 * 3_600_000;
const startBackoff = { firstMs: 100, maxMs: 10_000 };

/**
 * Begins to read the totals of all keys' usage, in a separate runner: they fold all servings, so
 * neither a start nor the other views may wait for them.
 */
export const startUsageTotals = ({
  store,
  snapshots,
  clock,
  log,
}: {
  readonly store: EventStore;
  readonly snapshots: SnapshotStore;
  readonly clock: () => EpochMs;
  readonly log: Logger;
}): ProjectionRunner => {
  const onError = createErrorLog(log);
  const runner = createProjectionRunner({
    store,
    projections: [usageTotals],
    snapshots,
    firstPosition: () => positionBefore(store, clock() - countedMs),
    startTimeoutMs: Number.POSITIVE_INFINITY,
    onError,
  });
  const closing = new AbortController();
  const { signal } = closing;
  const delayAfter: RetryOptions<void>["delayAfter"] = (outcome, attempt) => {
    if (!("error" in outcome) || signal.aborted) return undefined;
    onError("the usage of all keys cannot be counted", outcome.error);
    return exponentialBackoff(startBackoff, attempt);
  };
  retry({ time: backgroundTime, signal, delayAfter }, runner.start).catch(() => {}); // rejects only after `close`
  return {
    ...runner,
    close: async () => {
      closing.abort();
      await runner.close();
    },
  };
};

/** Other programs may write any number of malformed events into our streams. */
const reportsPerProcess = 100;

const reportMalformed = (log: Logger) => {
  let reported = 0;
  return ({ stream, revision, position, type }: RecordedEvent): void => {
    reported += 1;
    if (reported > reportsPerProcess) return;
    log.error({ stream, revision, position, type }, "skipped a malformed event");
    if (reported === reportsPerProcess) log.error("further malformed events are counted, not logged");
  };
};
