import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Instruments } from "./instruments.ts";
import { type Metric, metricDefinitions } from "./metrics.ts";
import type { MetricSources } from "./telemetry.ts";

type ObservableKey = Parameters<Instruments["observe"]>[0];

/** Reads the sources at each collection. */
export const observeSources = ({ observe }: Instruments, sources: MetricSources): void => {
  for (const [key, { read }] of Object.entries<Metric>(metricDefinitions)) {
    if (read) observe(key as ObservableKey, (observeValue) => observeValue(read(sources)));
  }
  observe("queueLength", (observeValue) => {
    observeValue(sources.pendingCommands(), { queue: "commands" });
    observeValue(sources.subprocess().queued, { queue: "speech_tools" });
  });
  observe("dependency", async (observeValue) => {
    const { parts } = await sources.checkHealth();
    for (const [dependency, { status }] of Object.entries(parts)) {
      observeValue(Number(status === "ok"), { dependency });
    }
  });
};

/** The sampling interval of the event loop delay in milliseconds. Every measured delay contains it. */
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
