import { repeat } from "../../async/repeat.ts";
import type { Time } from "../../async/time.ts";
import { type Log, loggableMessage } from "../pipeline/log.ts";
import type { Retention } from "./retention.ts";

/**
 * The first run starts at a random time in the first interval, but not before this part of it. So
 * instances that start together do not list the store together.
 */
const earliest = 0.1;

/**
 * Removes unused audio, and measures the rest, about once in the interval, until the returned
 * function is called. The function resolves when no run is in progress.
 */
export const scheduleRetention = ({
  retention,
  intervalMs,
  time,
  random,
  log,
}: {
  readonly retention: Pick<Retention, "runOnce">;
  readonly intervalMs: number;
  readonly time: Time;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly log: Log;
}): (() => Promise<void>) =>
  repeat({
    task: async (signal) => {
      await retention.runOnce(signal);
      return intervalMs;
    },
    firstMs: intervalMs * (earliest + (1 - earliest) * random()),
    retryMs: intervalMs,
    time,
    onError: (error) =>
      log.warn({ error: loggableMessage(error) }, "Unused audio could not be removed from the store."),
  });
