import type { RequestsCounted } from "../src/domain/usage/rate.ts";
import type { Projection } from "./projection.ts";

/** The requests of every key, as the instances reported them. */
export interface Rate {
  /** By the instance's stream. */
  instances: Record<string, InstanceRate>;
}

export interface InstanceRate {
  /** When the store took its last report, in milliseconds since the epoch: the one clock that all instances share. */
  reportedAt: number;
  /** Requests by minute and key, in the newest minutes of the instance's own clock. */
  minutes: Record<number, Record<string, number>>;
}

/** An instance whose clock is fast still has the counts of the minute that the others are in. */
const minutesKept = 3;

/** An instance that reported nothing for so long has stopped, or its counts are of the past. */
const forgottenAfterMs = 5 * 60_000;

export const ratePartition = "rate";

/** One partition, so that instances that stopped can be forgotten. */
export const rate: Projection<Rate> = {
  name: "rate",
  version: 2,
  prefixes: ["rate-"],
  partition: () => ratePartition,
  initial: () => ({ instances: {} }),
  apply: (state, { type, stream, data, created }) => {
    if (type !== "RequestsCounted") return state;
    state.instances[stream] ??= { reportedAt: created, minutes: {} };
    record(state.instances[stream], data as RequestsCounted);
    state.instances[stream].reportedAt = created;
    forgetStopped(state, created);
    return state;
  },
};

const record = ({ minutes }: InstanceRate, { minute, keys, counts }: RequestsCounted): void => {
  minutes[minute] ??= {};
  const ofMinute = minutes[minute];
  keys.forEach((apiKey, index) => {
    ofMinute[apiKey] = Math.max(ofMinute[apiKey] ?? 0, counts[index] ?? 0);
  });
  const newest = Math.max(...Object.keys(minutes).map(Number));
  for (const one of Object.keys(minutes).map(Number)) {
    if (one <= newest - minutesKept) delete minutes[one];
  }
};

const forgetStopped = ({ instances }: Rate, now: number): void => {
  for (const [stream, { reportedAt }] of Object.entries(instances)) {
    if (reportedAt < now - forgottenAfterMs) delete instances[stream];
  }
};

/** The key's requests in a minute to all instances but the reader's own. */
export const requestsOnOtherInstances = (
  state: Rate | undefined,
  ownStream: string,
  minute: number,
  apiKey: string,
): number => {
  let sum = 0;
  for (const stream in state?.instances) {
    if (stream !== ownStream) sum += state.instances[stream]?.minutes[minute]?.[apiKey] ?? 0;
  }
  return sum;
};
