/**
 * The promise, or the signal's reason as soon as it is aborted; what the promise becomes afterwards is nobody's
 * concern any more. It does not stop the work: whoever does it must hear the signal as well.
 */
export const untilAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> => {
  promise.catch(() => undefined);
  return new Promise<T>((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
};
