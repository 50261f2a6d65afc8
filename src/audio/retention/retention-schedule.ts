import { repeat } from "../../async/repeat.ts";
import type { Time } from "../../async/time.ts";
import { type Log, loggableMessage } from "../pipeline/log.ts";
import type { Retention } from "./retention.ts";

/**
 * The first run starts at a random time in the first interval, but not before this part of it. So
 * instances that start together do not list the store together.
 */
const earliest = 0.1;
/** A store that is measured first is measured at a random time in these minutes after the start. */
const measureMs = { min: 60_000, max: 5 * 60_000 };

/**
 * Removes unused audio, and measures the rest, about once in the interval, until the returned
 * function is called. The function resolves when no run is in progress.
 */
export const scheduleRetention = ({
  retention,
  intervalMs,
  isMeasuredFirst,
  time,
  random,
  log,
}: {
  readonly retention: Pick<Retention, "runOnce" | "measure">;
  readonly intervalMs: number;
  /** True if the size is measured once, soon after the start. Listing a bucket costs money. */
  readonly isMeasuredFirst: boolean;
  readonly time: Time;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly log: Log;
}): (() => Promise<void>) => {
  const between = (min: number, max: number): number => min + (max - min) * random();
  const firstMs = between(intervalMs * earliest, intervalMs);
  let isMeasurement = isMeasuredFirst;
  return repeat({
    task: async (signal) => {
      if (!isMeasurement) {
        await retention.runOnce(signal);
        return intervalMs;
      }
      isMeasurement = false;
      await retention.measure(signal);
      return firstMs;
    },
    firstMs: isMeasuredFirst ? between(measureMs.min, measureMs.max) : firstMs,
    retryMs: intervalMs,
    time,
    onError: (error) =>
      log.warn(
        { error: loggableMessage(error) },
        "The audio in the store could not be measured, or unused audio not be removed.",
      ),
  });
};
