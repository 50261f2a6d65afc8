import type { ServingVoided, SynthesisServed } from "../src/domain/usage/usage.ts";
import type { Projection } from "./projection.ts";

/** What one key has used in one month; the partition is its stream, `usage-{apiKey}-{yyyy-mm}`. */
export interface MonthlyUsage {
  /** Characters counted, less those of voided servings. */
  used: number;
  /** Requests answered with audio, the parts that cost nothing among them; without the voided ones. */
  requests: number;
  /** When the last Idempotency-Key was used, in milliseconds since the epoch; 0: none was. */
  keyedAt: number;
  /** The last revision counted, -1 before the first: an event told twice counts once. */
  revision: number;
}

/**
 * How far each key is into its quota. The month is the stream's: the decision that appended the event chose it by
 * the event's own `at`, in UTC. When the store took the event plays no part.
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
