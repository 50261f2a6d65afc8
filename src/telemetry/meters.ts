import { type Attributes, type Meter, metrics, type ObservableResult } from "@opentelemetry/api";
import { type Counter, createCounter } from "./counter.ts";
import { type Metric, type MetricKey, metricDefinitions } from "./metric-names.ts";

type KeysOf<Kind extends Metric["kind"]> = {
  [Key in MetricKey]: (typeof metricDefinitions)[Key]["kind"] extends Kind ? Key : never;
}[MetricKey];

export type Observe = (value: number, attributes?: Attributes) => void;

/** The instruments, by the names that metric-names.ts gives them. */
export interface Instruments {
  /** Answers with what takes a value, in the metric's unit. */
  histogram(key: Exclude<KeysOf<"histogram">, "requests">): (value: number, attributes?: Attributes) => void;
  counter(key: KeysOf<"counter">): Counter;
  /** Read whenever the numbers are wanted. */
  gauge(key: KeysOf<"gauge"> | KeysOf<"counter">, read: (observe: Observe) => void | Promise<void>): void;
}

export const createInstruments = (meter: Meter = metrics.getMeter("voxledger")): Instruments => {
  const gauge: Instruments["gauge"] = (key, read) => {
    const { name, unit, description, kind } = metricDefinitions[key];
    const options = { unit, description };
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
      const { name, unit, description, bounds } = metricDefinitions[key];
      const advice = { explicitBucketBoundaries: [...bounds] };
      const instrument = meter.createHistogram(name, { unit, description, advice });
      return (value, attributes) => instrument.record(value, attributes);
    },
    counter: (key) => {
      const { attributes = [] } = metricDefinitions[key] as Metric;
      const tally = createCounter(attributes);
      gauge(key, (observe) => {
        for (const [sum, labels] of tally.entries()) observe(sum, labels);
      });
      return tally;
    },
    gauge,
  };
};
