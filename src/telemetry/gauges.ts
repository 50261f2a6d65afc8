import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Attributes } from "@opentelemetry/api";
import type { ResourceStats } from "../async/scheduler/scheduler.ts";
import { engines } from "../domain/synthesis/speech.ts";
import type { Instruments } from "./instruments.ts";
import type { Metric } from "./metric-definition.ts";
import { metricDefinitions } from "./metrics.ts";
import type { MetricSources } from "./telemetry.ts";

type ObservableKey = Parameters<Instruments["observe"]>[0];

/** Reads the sources at each collection. */
export const observeSources = ({ observe }: Instruments, sources: MetricSources): void => {
  for (const [key, { read }] of Object.entries<Metric>(metricDefinitions)) {
    if (!read) continue;
    observe(key as ObservableKey, async (observeValue) => {
      const value = await read(sources);
      if (value !== undefined) observeValue(value);
    });
  }
  observe("queueLength", (observeValue) => {
    observeValue(sources.pendingCommands(), { queue: "commands" });
    for (const { resource, queued } of sources.scheduler()) observeValue(queued, queueOf(resource));
  });
  const observeResources = (key: ObservableKey, read: (stats: ResourceStats) => number): void =>
    observe(key, (observeValue) => {
      for (const stats of sources.scheduler()) observeValue(read(stats), queueOf(stats.resource));
    });
  observeResources("slotsUsed", ({ running }) => running);
  observeResources("oldestWait", ({ oldestWaitMs }) => oldestWaitMs / 1_000);
  observe("oldestRun", (observeValue) => {
    for (const [resource, ms] of sources.oldestRuns()) observeValue(ms / 1_000, queueOf(resource));
  });
  observe("queueRefusals", (observeValue) => {
    for (const { resource, refused, refusedForKey } of sources.scheduler()) {
      observeValue(refused - refusedForKey, { ...queueOf(resource), scope: "all" });
      observeValue(refusedForKey, { ...queueOf(resource), scope: "key" });
    }
  });
  for (const key of ["suspendedKeys", "suspensions", "reinstatements"] as const) {
    observe(key, (observeValue) => {
      for (const [cause, count] of Object.entries(sources.suspensions()[key])) observeValue(count, { cause });
    });
  }
  observe("diskFree", async (observeValue) => {
    for (const { folder, bytes } of await sources.diskFree()) observeValue(bytes, { folder });
  });
  observe("userProjectionRunning", (observeValue) => {
    for (const { name, state } of sources.userProjections())
      observeValue(Number(state === "running" || state === "changing"), { projection: name });
  });
  observe("userProjectionProgress", (observeValue) => {
    for (const { name, progress } of sources.userProjections())
      if (progress !== undefined) observeValue(progress / 100, { projection: name });
  });
  observe("dependency", async (observeValue) => {
    const { parts } = await sources.checkHealth();
    for (const [dependency, { status }] of Object.entries(parts)) {
      observeValue(Number(status === "ok"), { dependency });
    }
  });
};

/** Records how long jobs wait for a slot. */
export const recordWaits = ({ histogram }: Instruments): ((resource: string, waitedMs: number) => void) => {
  const record = histogram("queueWait");
  return (resource, waitedMs) => record(waitedMs / 1_000, queueOf(resource));
};

/** The resource of a provider has the name of its engine. */
const queueOf = (resource: string): Attributes =>
  Object.hasOwn(engines, resource) ? { queue: "providers", engine: resource } : { queue: resource };

/**
 * The sampling interval of the event loop delay in milliseconds. Every measured delay contains it.
 */
const resolution = 20;

/** Observes the event loop and the CPU. Returns the function that stops it. */
export const observeProcess = ({ observe }: Instruments): (() => void) => {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  const seconds = (nanoseconds: number): number =>
    delay.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolution / 1_000);

  observe("loopDelayP99", (observeValue) => observeValue(seconds(delay.percentile(99))));
  observe("loopDelayMax", (observeValue) => {
    observeValue(seconds(delay.max));
    delay.reset(); // after the last read of a collection
  });
  observe("cpu", (observeValue) => {
    const { user, system } = process.cpuUsage();
    observeValue(user / 1e6, { "cpu.mode": "user" });
    observeValue(system / 1e6, { "cpu.mode": "system" });
  });
  return () => delay.disable();
};
