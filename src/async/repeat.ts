import type { Time } from "./time.ts";

/**
 * Runs a task after `firstMs`. Runs it again after the number of milliseconds with which it has
 * resolved, or after `retryMs` if it has failed. Ends when the task resolves with undefined, or
 * when the returned function is called. That function resolves when no run is in progress.
 */
export const repeat = ({
  task,
  firstMs,
  retryMs,
  time,
  onError,
}: {
  readonly task: (signal: AbortSignal) => Promise<number | undefined>;
  readonly firstMs: number;
  readonly retryMs: number;
  readonly time: Time;
  /** Called when a task fails, but not when it is aborted. */
  readonly onError: (error: unknown) => void;
}): (() => Promise<void>) => {
  const stop = new AbortController();
  let running = Promise.resolve();
  const run = async (): Promise<void> => {
    let nextMs: number | undefined = retryMs;
    try {
      nextMs = await task(stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) onError(error);
    }
    if (nextMs !== undefined && !stop.signal.aborted) cancel = start(nextMs);
  };
  const start = (ms: number) =>
    time.after(ms, () => {
      running = run();
    });
  let cancel = start(firstMs);
  return async () => {
    stop.abort();
    cancel();
    await running;
  };
};

/**
 * Runs a task repeatedly, with a pause before each run. The task must never reject. `pauseMs` may
 * depend on earlier runs. The returned function ends the repetition after the current run.
 */
export const repeatEvery = (
  pauseMs: number | (() => number),
  time: Time,
  task: () => Promise<void>,
): (() => void) => {
  const pause = typeof pauseMs === "number" ? () => pauseMs : pauseMs;
  const end = repeat({
    task: async () => {
      await task();
      return pause();
    },
    firstMs: pause(),
    retryMs: pause(),
    time,
    onError: (error) => {
      throw error;
    },
  });
  return () => void end();
};
