import { type Attributes, type Meter, metrics, type ObservableResult } from "@opentelemetry/api";
import type { Metric } from "./metric-definition.ts";
import { type MetricKey, metricDefinitions } from "./metrics.ts";

type KeysOf<Kind extends Metric["kind"]> = {
  [Key in MetricKey]: (typeof metricDefinitions)[Key]["kind"] extends Kind ? Key : never;
}[MetricKey];

type Observe = (value: number, attributes?: Attributes) => void;

/** A counter that is read at collection: adding costs next to nothing. */
export interface Counter {
  /**
   * Takes one value per attribute of the metric, in order; an empty one is omitted. Values come
   * from fixed lists.
   */
  add(amount: number, ...values: string[]): void;
  entries(): Iterable<readonly [sum: number, Attributes]>;
}

/** Creates OpenTelemetry instruments from the definitions in metrics.ts. */
export interface Instruments {
  /** Returns a function that records a value, in the metric's unit. */
  histogram(key: KeysOf<"histogram">): (value: number, attributes?: Attributes) => void;
  counter(key: KeysOf<"counter">): Counter;
  /** `read` is called at each collection. */
  observe(key: KeysOf<"gauge" | "counter">, read: (observe: Observe) => void | Promise<void>): void;
}

export const createInstruments = (meter: Meter = metrics.getMeter("voxledger")): Instruments => {
  const observe: Instruments["observe"] = (key, read) => {
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
      const { name, unit, description, bounds = [] } = metricDefinitions[key];
      const advice = { explicitBucketBoundaries: [...bounds] };
      const instrument = meter.createHistogram(name, { unit, description, advice });
      return (value, attributes) => instrument.record(value, attributes);
    },
    counter: (key) => {
      const counter = createCounter(metricDefinitions[key].attributes ?? []);
      observe(key, (observeValue) => {
        for (const [sum, attributes] of counter.entries()) observeValue(sum, attributes);
      });
      return counter;
    },
    observe,
  };
};

const separator = "\u0000";

export const createCounter = (names: readonly string[]): Counter => {
  const sums = new Map<string, number>();
  return {
    add: (amount, ...values) => {
      const key = values.length === 1 ? (values[0] ?? "") : values.join(separator);
      sums.set(key, (sums.get(key) ?? 0) + amount);
    },
    *entries() {
      for (const [key, sum] of sums) yield [sum, toAttributes(names, key)];
    },
  };
};

const toAttributes = (names: readonly string[], key: string): Attributes => {
  const values = key.split(separator);
  return Object.fromEntries(names.flatMap((name, index) => (values[index] ? [[name, values[index]]] : [])));
};
