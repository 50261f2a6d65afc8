import { VoxledgerError } from "../errors.ts";

/** Runs work that must be done in time. @throws {VoxledgerError} whatever it failed by */
export type Within = <T>(work: () => Promise<T>) => Promise<T>;

export interface TimeLimit {
  /** Raised when the caller leaves, or when work was not done in time: then what it was a part of is over as well. */
  readonly signal: AbortSignal;
  /** Each work has the whole time, however many there are: a sound that comes piece by piece may take long. */
  readonly within: Within;
}

export const createTimeLimit = (timeout: number, leaving: AbortSignal): TimeLimit => {
  const late = new AbortController();

  const failure = (error: unknown): VoxledgerError => {
    if (leaving.aborted) return abortError(leaving.reason);
    if (error instanceof VoxledgerError) return error;
    if (late.signal.aborted) return timeoutError(timeout, error);
    return networkError(error);
  };

  return {
    signal: AbortSignal.any([leaving, late.signal]),
    within: async (work) => {
      const timer = setTimeout(() => late.abort(), timeout);
      try {
        return await work();
      } catch (error) {
        throw failure(error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
};

export const abortError = (reason?: unknown): VoxledgerError =>
  new VoxledgerError("It was cancelled.", { code: "ABORTED", cause: reason });

export const timeoutError = (timeout: number, cause?: unknown): VoxledgerError =>
  new VoxledgerError(`The service did not answer within ${timeout} ms.`, { code: "TIMEOUT", cause });

export const networkError = (cause?: unknown): VoxledgerError =>
  new VoxledgerError("The service could not be reached.", { code: "NETWORK", cause });
