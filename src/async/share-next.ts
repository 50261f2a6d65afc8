/**
 * Returns a function that runs a task once for all callers that wait for its next run. Each
 * caller's run begins after its call, so its result includes what happened before; at most one run
 * is active. A failure goes to the callers of that run. The task must settle: later callers wait
 * for it.
 */
export const shareNext = <T>(task: () => Promise<T>): (() => Promise<T>) => {
  let active: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const run = task();
    active = run;
    return run;
  };
  return () => {
    next ??= active.then(begin, begin);
    return next;
  };
};
