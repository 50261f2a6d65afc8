import type { Clock } from "../async/clock.ts";

/**
 * Repeats a task that never rejects, with a pause before each run. `pauseMs` may depend on earlier runs. The returned function ends
 * it after the current run.
 */
export const repeat = (
  pauseMs: number | (() => number),
  timers: Clock,
  task: () => Promise<void>,
): (() => void) => {
  let cancel = () => {};
  let stopped = false;
  const schedule = (): void => {
    if (stopped) return;
    const ms = typeof pauseMs === "number" ? pauseMs : pauseMs();
    cancel = timers.after(ms, () => void task().then(schedule));
  };
  schedule();
  return () => {
    stopped = true;
    cancel();
  };
};
