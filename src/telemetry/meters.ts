import { type Attributes, type Meter, metrics, type ObservableResult } from "@opentelemetry/api";
import { createTally, type Tally } from "./counter.ts";
import { type Metric, type MetricKey, metricNames } from "./metric-names.ts";

type KeysOf<Kind extends Metric["kind"]> = {
  [Key in MetricKey]: (typeof metricNames)[Key]["kind"] extends Kind ? Key : never;
}[MetricKey];

export type Observe = (value: number, attributes?: Attributes) => void;

/** The instruments, by the names that metric-names.ts gives them. */
export interface Meters {
  /** Answers with what takes a value, in the metric's unit. */
  histogram(key: Exclude<KeysOf<"histogram">, "requests">): (value: number, attributes?: Attributes) => void;
  tally(key: KeysOf<"counter">): Tally;
  /** Read whenever the numbers are wanted. */
  gauge(key: KeysOf<"gauge"> | KeysOf<"counter">, read: (observe: Observe) => void | Promise<void>): void;
}

export const createMeters = (meter: Meter = metrics.getMeter("voxledger")): Meters => {
  const gauge: Meters["gauge"] = (key, read) => {
    const { name, unit, about, kind } = metricNames[key];
    const options = { unit, description: about };
    const instrument =
      kind === "counter"
        ? meter.createObservableCounter(name, options)
        : meter.createObservableGauge(name, options);
    instrument.addCallback((result: ObservableResult) =>
      read((value, attributes) => result.observe(value, attributes)),
    );
  };
  return {
    histogram: (key) => {
      const { name, unit, about, bounds } = metricNames[key];
      const advice = { explicitBucketBoundaries: [...bounds] };
      const instrument = meter.createHistogram(name, { unit, description: about, advice });
      return (value, attributes) => instrument.record(value, attributes);
    },
    tally: (key) => {
      const { attributes = [] } = metricNames[key] as Metric;
      const tally = createTally(attributes);
      gauge(key, (observe) => {
        for (const [sum, labels] of tally.entries()) observe(sum, labels);
      });
      return tally;
    },
    gauge,
  };
};
