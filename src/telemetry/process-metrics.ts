import { counter, gauge, type Metric } from "./metric-definition.ts";

/** The metrics of a process, under the names that OpenTelemetry gives them. */
export const processMetrics = {
  loopDelayMax: gauge(
    "nodejs.eventloop.delay.max",
    "s",
    "Maximum event loop delay since the last collection.",
    { combined: "max" },
  ),
  loopDelayP99: gauge(
    "nodejs.eventloop.delay.p99",
    "s",
    "99th percentile of the event loop delay since the last collection.",
    { combined: "max" },
  ),
  loopUtilization: gauge("nodejs.eventloop.utilization", "1", "Event loop utilization since the start.", {
    read: () => performance.eventLoopUtilization().utilization,
    combined: "max",
  }),
  memory: gauge("process.memory.usage", "By", "Resident set size of the process.", {
    read: () => process.memoryUsage.rss(),
  }),
  heap: gauge("v8js.memory.heap.used", "By", "Used JavaScript heap.", {
    read: () => process.memoryUsage().heapUsed,
  }),
  cpu: counter("process.cpu.time", "s", "CPU time used.", { attributes: ["cpu.mode"] }),
} as const satisfies Record<string, Metric>;
