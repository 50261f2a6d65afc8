import type { Attributes } from "@opentelemetry/api";

/** A counter that is read when its numbers are wanted: adding costs next to nothing. */
export interface Counter {
  /** One value for each of its attributes. */
  add(amount: number, ...values: string[]): void;
  entries(): Iterable<readonly [number, Attributes]>;
}

const separator = "\u0000";

/** Values come from fixed lists: there are never more of them than these lists allow. */
export const createCounter = (attributes: readonly string[]): Counter => {
  const sums = new Map<string, number>();
  return {
    add: (amount, ...values) => {
      const key = values.length === 1 ? (values[0] ?? "") : values.join(separator);
      sums.set(key, (sums.get(key) ?? 0) + amount);
    },
    *entries() {
      for (const [key, sum] of sums) yield [sum, toAttributes(attributes, key)];
    },
  };
};

const toAttributes = (attributes: readonly string[], key: string): Attributes => {
  const values = key.split(separator);
  return Object.fromEntries(
    attributes.flatMap((name, index) => (values[index] ? [[name, values[index]]] : [])),
  );
};
