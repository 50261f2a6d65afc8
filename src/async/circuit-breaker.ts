import { systemTime, type Time } from "./time.ts";

export type CircuitBreaker<Failure> = ReturnType<typeof createCircuitBreaker<Failure>>;

/** One call. Only its first report counts. */
export type Call<Failure> = ReturnType<CircuitBreaker<Failure>["start"]>;

export interface CircuitBreakerOptions<Failure> {
  /** The error of refused calls. */
  readonly openError: (lastFailure: Failure, retryInMs: number) => Error;
  readonly time?: Time;
  /** Consecutive failures that open the circuit. Default: 5. */
  readonly threshold?: number;
  /**
   * The time after which one trial call is let through. Default: 15 s. `retryAfterMs` lengthens it,
   * to a minute at most.
   */
  readonly resetMs?: number;
  readonly onChange?: (state: "closed" | "open") => void;
}

const maxResetMs = 60_000;

interface Opening<Failure> {
  readonly failure: Failure;
  /** The time at which the next trial call is let through. */
  trialAt: number;
}

/** Refuses calls for a while after repeated failures. */
export const createCircuitBreaker = <Failure>(options: CircuitBreakerOptions<Failure>) => {
  const { openError, time = systemTime, threshold = 5, resetMs = 15_000, onChange } = options;
  let failuresInARow = 0;
  let opening: Opening<Failure> | undefined;

  const close = () => {
    failuresInARow = 0;
    if (!opening) return;
    opening = undefined;
    onChange?.("closed");
  };

  const countFailure = (failure: Failure, retryAfterMs: number) => {
    failuresInARow++;
    if (!opening && failuresInARow < threshold) return;
    const wasClosed = !opening;
    opening = { failure, trialAt: time.now() + Math.max(resetMs, Math.min(retryAfterMs, maxResetMs)) };
    if (wasClosed) onChange?.("open");
  };

  return {
    /**
     * Begins a call.
     * @throws `openError()` while the circuit is open
     */
    start: () => {
      const startedIn = opening;
      if (startedIn) {
        const retryInMs = startedIn.trialAt - time.now();
        if (retryInMs > 0) throw openError(startedIn.failure, retryInMs);
        // The next trial comes this much later, in case this one never ends.
        startedIn.trialAt = time.now() + resetMs;
      }
      let isReported = false;
      // Results of calls that started before the last change of state are outdated.
      const report = (run: () => void): void => {
        if (!isReported && opening === startedIn) run();
        isReported = true;
      };
      return {
        /** The first part of the response has arrived, which closes an open circuit. */
        responded: (): void => {
          if (startedIn) report(close);
        },
        succeeded: (): void => report(close),
        /** `retryAfterMs`: how long the called service asks its clients to wait. */
        failed: (failure: Failure, retryAfterMs = 0): void =>
          report(() => countFailure(failure, retryAfterMs)),
        /**
         * The outcome says nothing about the called service: the call was aborted, or its caller
         * was at fault.
         */
        ignored: (): void =>
          report(() => {
            if (startedIn) startedIn.trialAt = time.now();
          }),
      };
    },
    state: (): "closed" | "open" => (opening ? "open" : "closed"),
  };
};
