import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Instruments } from "./meters.ts";

/** The process itself. Answers with what ends the watching of its event loop. */
export const observeProcess = ({ gauge }: Instruments): (() => void) => {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  const seconds = (nanoseconds: number): number =>
    delay.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolution / 1_000);

  gauge("loopDelayTypical", (observe) => observe(seconds(delay.percentile(99))));
  gauge("loopDelay", (observe) => {
    observe(seconds(delay.max));
    delay.reset(); // the one that is read last: several readers share what there was to read
  });
  gauge("loopUtilization", (observe) => observe(performance.eventLoopUtilization().utilization));
  gauge("memory", (observe) => observe(process.memoryUsage.rss()));
  gauge("heap", (observe) => observe(process.memoryUsage().heapUsed));
  gauge("cpu", (observe) => {
    const { user, system } = process.cpuUsage();
    observe(user / 1e6, { "cpu.mode": "user" });
    observe(system / 1e6, { "cpu.mode": "system" });
  });
  return () => delay.disable();
};

/** Milliseconds between two looks, which are in every delay that is measured. */
const resolution = 20;
