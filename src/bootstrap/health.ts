import packageJson from "../../package.json" with { type: "json" };
import { type MalformedEvents, readMalformedEvents } from "../../projections/malformed-events.ts";
import { rate } from "../../projections/rate.ts";
import type { RunnerStatus } from "../../projections/runner/runner.ts";
import { createSuspensionCounts, suspensionCounts } from "../../projections/suspension-counts.ts";
import type { Activity } from "../application/health/activity.ts";
import { combineHealth, combineProviders, combineStatus } from "../application/health/combine-reports.ts";
import { type CheckHealth, createHealth, shareReports } from "../application/health/health.ts";
import { createInstanceStatus } from "../application/health/instance-status.ts";
import { createReadiness } from "../application/health/readiness.ts";
import type { UserProjectionWatch } from "../application/user-projections/watch.ts";
import type { ResourceStats } from "../async/scheduler/scheduler.ts";
import type { Time } from "../async/time.ts";
import { isByok } from "../domain/synthesis/byok-providers.ts";
import type { OpenLedger } from "../ledger/open-ledger.ts";
import type { SealSchedule } from "../ledger/proof/seal-schedule.ts";
import type { Core, Runtime } from "./core.ts";
import { measureDiskUse } from "./disk-use.ts";
import { isServing, malformedEvents } from "./event-log/views.ts";
import type { AudioParts } from "./speech/audio.ts";
import type { composeRetention } from "./speech/audio-store.ts";
import type { AskOthers } from "./workers/shared.ts";

export type HealthChecks = ReturnType<typeof composeHealth>;

/** Composes the health checks, and supplies the values that telemetry reads at each collection. */
export const composeHealth = (
  { settings, clock, telemetry, shared }: Runtime,
  { store, runner, countedUsage, handler, clockCheck, scheduler, malformedElsewhere }: Core,
  audio: AudioParts & { readonly retentionStats: ReturnType<typeof composeRetention> },
  ledger: OpenLedger,
  sealing: SealSchedule,
  userProjections: UserProjectionWatch | undefined,
) => {
  const malformed = () => readMalformedEvents(runner.lastKnownView(malformedEvents));
  const noteEvents = () => {
    const notes = [skippedEvents(malformed(), malformedElsewhere()), otherJournals(ledger.foreignJournals())];
    return notes.filter((note) => note !== undefined).join("; ") || undefined;
  };
  const startedAt = clock();
  const checkHealth = createHealth({
    checks: [
      { name: "eventStore", critical: true, probe: () => store.ping() },
      { name: "projections", critical: true, probe: async () => requireServingViews(runner.status()) },
      {
        name: "reports",
        critical: false,
        probe: async () => {
          requireReportingViews(runner.status());
          const counted = countedUsage.status();
          if (counted) requireReportingViews(counted);
        },
      },
      { name: "events", critical: false, probe: async () => {}, note: noteEvents },
      {
        name: "clock",
        critical: true,
        probe: async () => {
          await clockCheck.check();
          clockCheck.requireRightClock();
        },
        note: clockCheck.note,
      },
      { name: "seals", critical: false, probe: sealing.probe },
      ...(userProjections
        ? [{ name: "userProjections", critical: false, probe: async () => {}, note: userProjections.note }]
        : []),
      ...audio.checks,
      { name: "queues", critical: false, probe: async () => requireShortQueues(scheduler.stats()) },
      { name: "audioStore", critical: false, probe: () => audio.audioStore.ping(), cacheMs: 5_000 },
    ],
  });
  telemetry.observe({
    views: runner.status,
    suspensions: createSuspensionCounts(runner.lastKnownView(suspensionCounts)),
    malformedEvents: () => malformed().count + malformedElsewhere(),
    clockDifferenceMs: () => clockCheck.behindMs,
    ...measureDiskUse(settings),
    sealAgeSeconds: () => (clock() - (sealing.lastSealedAt ?? startedAt)) / 1_000,
    unrecoveredJournals: ledger.unrecoveredJournals,
    userProjections: () => userProjections?.installed() ?? [],
    pendingCommands: () => handler.pending + ledger.pendingEntries(),
    backgroundEntries: () => ledger.ledger.backgroundEntries,
    pipeline: audio.pipeline.stats,
    retention: audio.retentionStats,
    subprocess: audio.subprocessStats,
    scheduler: scheduler.stats,
    oldestRuns: scheduler.oldestRuns,
    checkHealth,
  });
  const checkAll = checkAllWorkers(checkHealth, shared.askOthers);
  return {
    checkOwnHealth: checkHealth,
    checkHealth: checkAll,
    readiness: createReadiness({ checkHealth: checkAll, clock }),
  };
};

/** Returns a check of the health of all workers. `checkOwn`: checks this process. */
export const checkAllWorkers = (
  checkOwn: CheckHealth,
  askOthers: AskOthers,
  time?: Pick<Time, "now">,
): CheckHealth =>
  shareReports(async () => {
    const [own, { reports, missing }] = await Promise.all([checkOwn(), askOthers("health")]);
    return reports.length + missing === 0 ? own : combineHealth([own, ...reports], missing);
  }, time);

export type StatusParts = ReturnType<typeof composeStatus>;

/**
 * Composes the service's reports on itself for the admin API: those of this process, and those of
 * all workers.
 */
export const composeStatus = (
  { clock, shared }: Runtime,
  { instance, runner, scheduler, providerActivities }: Core,
  { checkOwnHealth }: Pick<HealthChecks, "checkOwnHealth">,
  activity: Activity,
) => {
  const own = createInstanceStatus({
    instance,
    version: packageJson.version,
    clock,
    views: runner.status,
    rate: runner.lastKnownView(rate),
    checkHealth: checkOwnHealth,
    activity,
    providerActivities,
    resources: scheduler.stats,
  });
  return {
    activity,
    own,
    showStatus: async () => {
      const [status, { reports, missing }] = await Promise.all([
        own.showStatus(),
        shared.askOthers("status"),
      ]);
      return combineStatus([status, ...reports], missing);
    },
    showProviders: async () => {
      const [status, { reports }] = await Promise.all([own.showProviders(), shared.askOthers("providers")]);
      return combineProviders([status, ...reports]);
    },
  };
};

/** @throws when requests cannot be served from the views */
export const requireServingViews = ({ live, current, failed }: RunnerStatus): void => {
  if (!live) throw new Error("the subscription to the event store is down");
  if (!current) throw new Error("the subscription to the event store lags, and requests are refused");
  throwIfFailed(failed.filter(isServing));
};

/** @throws when a view has failed that only reports and hints need */
export const requireReportingViews = ({ failed }: RunnerStatus): void =>
  throwIfFailed(failed.filter((name) => !isServing(name)));

const throwIfFailed = (failed: readonly string[]): void => {
  if (failed.length > 0) throw new Error(`stopped, see the log: ${failed.join(", ")}`);
};

/**
 * A website's own provider does not count: its limits concern that website.
 * @throws when a resource that all keys share refuses every key, or lets one wait for too long
 */
export const requireShortQueues = (resources: readonly ResourceStats[]): void => {
  const shared = resources.filter(({ resource }) => !isByok(resource));
  const full = shared.filter(({ isFull }) => isFull).map(({ resource }) => `${resource}: full`);
  const slow = shared
    .filter(({ isSlow }) => isSlow)
    .map(
      ({ resource, oldestWaitMs }) => `${resource}: a key waits for ${Math.round(oldestWaitMs / 1_000)} s`,
    );
  const overloaded = [...full, ...slow];
  if (overloaded.length > 0) throw new Error(overloaded.join(", "));
};

/**
 * Omits streams, because their names may contain API keys and /health needs no credentials.
 * `elsewhere`: the number of those that no view reads.
 */
const skippedEvents = ({ count, last }: MalformedEvents, elsewhere: number): string | undefined => {
  if (count + elsewhere === 0) return undefined;
  return `${count + elsewhere} malformed, skipped${last ? `; the last at position ${last.position}` : ""}`;
};

const otherJournals = (count: number): string | undefined =>
  count === 0
    ? undefined
    : `${count} journals are another program's, and ignored: STREAM_PREFIX separates them`;
