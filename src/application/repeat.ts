import type { Clock } from "../async/clock.ts";

/** Repeats a task that never rejects, with a pause before each run. The returned function ends it after the current run. */
export const repeat = (ms: number, timers: Clock, task: () => Promise<void>): (() => void) => {
  let cancel = () => {};
  let stopped = false;
  const schedule = (): void => {
    if (stopped) return;
    cancel = timers.after(ms, () => void task().then(schedule));
  };
  schedule();
  return () => {
    stopped = true;
    cancel();
  };
};
