import type { ServingVoided, SynthesisServed } from "../src/domain/usage/usage.ts";
import type { Projection } from "./projection.ts";

/** A key's usage in one month. */
export interface MonthlyUsage {
  /** Characters, without those of voided servings. */
  used: number;
  /** Requests answered with audio, including those that cost nothing; without voided ones. */
  requests: number;
  /** The last use of an Idempotency-Key, in milliseconds since the epoch; 0 without any. */
  keyedAt: number;
  /** The last folded revision, -1 before the first: an event that is delivered twice counts once. */
  revision: number;
}

/**
 * Each key's usage of its monthly quota. Partition: `usage-{apiKey}-{yyyy-mm}`. The month is that of the events' own `at`, in
 * UTC; the time of the append is irrelevant.
 */
export const monthlyQuota: Projection<MonthlyUsage> = {
  name: "monthly-quota",
  version: 2,
  prefixes: ["usage-"],
  partition: ({ stream }) => stream,
  initial: () => ({ used: 0, requests: 0, keyedAt: 0, revision: -1 }),
  apply: (state, event) => {
    if (event.revision <= state.revision) return state;
    if (event.type === "SynthesisServed") {
      const { characters, idempotency, at } = event.data as SynthesisServed;
      state.used += characters;
      state.requests += 1;
      if (idempotency) state.keyedAt = Math.max(state.keyedAt, Date.parse(at));
    } else if (event.type === "ServingVoided") {
      const { characters, serving } = event.data as ServingVoided;
      state.used -= characters;
      if (serving) state.requests -= 1;
    } else return state;
    state.revision = event.revision;
    return state;
  },
};
