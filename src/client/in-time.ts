import type { StartTimer } from "./dom.ts";
import { timeoutError } from "./errors.ts";

/**
 * Waits at most this long.
 * @throws {VoxledgerError} `TIMEOUT`
 */
export const inTime = async <T>(
  result: T | Promise<T>,
  milliseconds: number | undefined,
  startTimer: StartTimer,
): Promise<T> => {
  if (milliseconds === undefined) return await result;
  const late = Promise.withResolvers<never>();
  const stopTimer = startTimer(milliseconds, () => late.reject(timeoutError(milliseconds)));
  try {
    return await Promise.race([result, late.promise]);
  } finally {
    stopTimer();
  }
};
