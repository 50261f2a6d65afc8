import { type Metric, prometheusName } from "../../telemetry/metric-definition.ts";
import { metricDefinitions } from "../../telemetry/metrics.ts";
import { listenForMetrics } from "../../telemetry/metrics-server.ts";
import { type Combination, combineMetrics, countersOf } from "../../workers/combine-metrics.ts";

/** Reads a worker's own metrics. Rejects if the worker does not respond in time, or has ended. */
type ReadMetrics = () => Promise<string>;

const combinations: ReadonlyMap<string, Combination> = new Map(
  Object.values<Metric>(metricDefinitions).flatMap((metric) =>
    metric.combined ? [[prometheusName(metric), metric.combined] as const] : [],
  ),
);

const { starting } = metricDefinitions;
const name = prometheusName(starting);
/** What the primary serves until a worker listens. */
const beforeWorkers = `# HELP ${name} ${starting.description}\n# TYPE ${name} gauge\n${name} 1\n`;

/**
 * Collects the metrics of all workers as those of one process. The counts of workers that have
 * ended stay in the sums, so that counters never decrease.
 */
export const createMetricsCollection = () => {
  /** The last metrics of each running worker; empty until it has responded. */
  const running = new Map<ReadMetrics, string>();
  let ended = "";

  const read = async (worker: ReadMetrics): Promise<void> => {
    const text = await worker().catch(() => undefined);
    if (text !== undefined && running.has(worker)) running.set(worker, text);
  };

  return {
    add: (worker: ReadMetrics): void => void running.set(worker, ""),
    /** `last`: its metrics at its end, if it could send them. */
    remove: (worker: ReadMetrics, last?: string): void => {
      const text = last ?? running.get(worker) ?? "";
      running.delete(worker);
      ended = combineMetrics([ended, countersOf(text)], combinations);
    },
    listen: (at: { readonly host: string; readonly port: number }) =>
      listenForMetrics(at, async () => {
        await Promise.all([...running.keys()].map(read));
        const texts = running.size === 0 ? [beforeWorkers] : [...running.values()];
        return combineMetrics([...texts, ended], combinations);
      }),
  };
};
