import type { RequestsCounted } from "../src/domain/rate.ts";
import type { Projection } from "./projection.ts";

/** A key's requests in its newest minute, by instance. */
export interface Rate {
  minute: number;
  counts: Record<string, number>;
}

/** Partitioned by stream, `rate-{apiKey}`. */
export const rate: Projection<Rate> = {
  name: "rate",
  version: 1,
  prefixes: ["rate-"],
  partition: ({ stream }) => stream,
  initial: () => ({ minute: 0, counts: {} }),
  apply: (state, { type, data }) => {
    if (type !== "RequestsCounted") return state;
    const { instance, minute, count } = data as RequestsCounted;
    if (minute < state.minute) return state;
    if (minute > state.minute) return { minute, counts: { [instance]: count } };
    state.counts[instance] = (state.counts[instance] ?? 0) + count;
    return state;
  },
};
