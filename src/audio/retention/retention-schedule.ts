import type { Clock } from "../../async/clock.ts";
import { type Log, loggableMessage } from "../pipeline/log.ts";
import type { Retention } from "./retention.ts";

const intervalMs = 60 * 60_000;
/** Of an interval: instances that start together do not list the store together. */
const earliest = 0.1;

/** Runs it about once an hour, until the returned function is called. That resolves when no run is in progress. */
export const scheduleRetention = ({
  retention,
  timers,
  random,
  log,
}: {
  readonly retention: Pick<Retention, "runOnce">;
  readonly timers: Clock;
  /** 0 to 1. */
  readonly random: () => number;
  readonly log: Log;
}): (() => Promise<void>) => {
  const stop = new AbortController();
  let running = Promise.resolve();
  const run = async (): Promise<void> => {
    try {
      await retention.runOnce(stop.signal);
    } catch (error) {
      if (!stop.signal.aborted)
        log.warn({ error: loggableMessage(error) }, "Unused audio could not be removed from the store.");
    }
    if (!stop.signal.aborted) cancel = start(intervalMs);
  };
  const start = (ms: number) =>
    timers.after(ms, () => {
      running = run();
    });
  let cancel = start(intervalMs * (earliest + (1 - earliest) * random()));
  return async () => {
    stop.abort();
    cancel();
    await running;
  };
};
