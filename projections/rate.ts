import { type RequestsCounted, rateStream } from "../src/domain/ledger/rate.ts";
import type { EpochMs } from "../src/domain/time.ts";
import type { Projection } from "./projection.ts";
import type { View } from "./runner/view.ts";

/** The requests of every key, as reported by the instances. */
export interface Rate {
  /** Keys are the streams of the instances. */
  instances: Record<string, InstanceRate>;
}

interface InstanceRate {
  /**
   * The time at which the store appended its last report. The store's clock is the only one that
   * all instances share.
   */
  reportedAt: EpochMs;
  /** Requests by minute and key, for the latest minutes of the instance's clock. */
  minutes: Record<number, Record<string, number>>;
}

/** An instance's clock may be ahead: its counts of earlier minutes are still current for others. */
const minutesKept = 3;

/** After this time without a report, an instance has stopped or its counts are outdated. */
const expiryMs = 5 * 60_000;

export const ratePartition = "rate";

/** It has one partition, so that stopped instances can be removed. */
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
    removeStopped(state, created);
    return state;
  },
};

const record = ({ minutes }: InstanceRate, { minute, keys, counts }: RequestsCounted): void => {
  minutes[minute] ??= {};
  const minuteCounts = minutes[minute];
  keys.forEach((apiKey, index) => {
    minuteCounts[apiKey] = Math.max(minuteCounts[apiKey] ?? 0, counts[index] ?? 0);
  });
  const newest = Math.max(...Object.keys(minutes).map(Number));
  for (const one of Object.keys(minutes).map(Number)) {
    if (one <= newest - minutesKept) delete minutes[one];
  }
};

const removeStopped = ({ instances }: Rate, now: number): void => {
  for (const [stream, { reportedAt }] of Object.entries(instances)) {
    if (reportedAt < now - expiryMs) delete instances[stream];
  }
};

/** A key's requests in one minute to all instances except this one. */
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

/** The instances except this one that have reported lately, with or without requests. */
export const reportingInstances = (
  view: View<Rate>,
  now: number,
): { readonly instance: string; readonly reportedAt: string }[] =>
  Object.entries(view.get(ratePartition)?.instances ?? {})
    .filter(([, { reportedAt }]) => reportedAt >= now - expiryMs)
    .map(([stream, { reportedAt }]) => ({
      instance: stream.slice(rateStream("").length),
      reportedAt: new Date(reportedAt).toISOString(),
    }));
