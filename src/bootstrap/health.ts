import { type MalformedEvents, readMalformedEvents } from "../../projections/malformed-events.ts";
import type { RunnerStatus } from "../../projections/runner/runner.ts";
import { type CheckHealth, createHealth } from "../application/health/health.ts";
import { createReadiness, type ReadinessCheck } from "../application/health/readiness.ts";
import type { Core, Runtime } from "./core.ts";
import type { Sound } from "./sound.ts";
import type { Speech } from "./speech.ts";
import { isServing, malformedEvents } from "./views.ts";

export interface HealthChecks {
  readonly checkHealth: CheckHealth;
  readonly readiness: ReadinessCheck;
}

/** The health checks, and the values that telemetry reads at collection. */
export const composeHealth = (
  { clock, telemetry }: Runtime,
  { store, runner, handler }: Core,
  sound: Sound,
  { voiding }: Speech,
): HealthChecks => {
  const malformed = () => readMalformedEvents(runner.lastKnownView(malformedEvents));
  const checkHealth = createHealth({
    checks: [
      { name: "eventStore", critical: true, probe: () => store.ping() },
      { name: "projections", critical: true, probe: async () => requireServingViews(runner.status()) },
      { name: "reports", critical: false, probe: async () => requireReportingViews(runner.status()) },
      { name: "events", critical: false, probe: async () => {}, note: () => skippedEvents(malformed()) },
      ...sound.checks,
      { name: "audioStore", critical: false, probe: () => sound.audioStore.ping(), cacheMs: 5_000 },
    ],
  });
  telemetry.observe({
    views: runner.status,
    malformedEvents: () => malformed().count,
    pendingCommands: () => handler.pending,
    unsettledServings: () => voiding.pending,
    pipeline: sound.pipeline.stats,
    subprocess: sound.subprocessStats,
    checkHealth,
  });
  return { checkHealth, readiness: createReadiness({ checkHealth, clock }) };
};

/** @throws when requests cannot be answered from the views */
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

/** Omits the stream, whose name may contain an API key: /health needs no credentials. */
const skippedEvents = ({ count, last }: MalformedEvents): string | undefined =>
  last && `${count} malformed, skipped; the last at position ${last.position}`;
