import { EngineFailed } from "../domain/errors.ts";
import { type Clock, systemClock } from "./clock.ts";

/** Leaves an upstream alone that fails and fails: for itself, and for those who would wait in vain. */
export interface CircuitBreaker {
  /** @throws {EngineFailed} at once, with the last failure's words and the seconds that are left, while it is open */
  start(): Call;
  state(): "closed" | "open";
}

/** One call, which ends in one of three ways; what is told after that changes nothing. */
export interface Call {
  /** The first of what was asked for is there: it is known already that the upstream works. */
  answered(): void;
  succeeded(): void;
  failed(failure: EngineFailed): void;
  /** It tells nothing: nobody wanted it any more, or the failure was not the upstream's. */
  ignored(): void;
}

export interface CircuitBreakerOptions {
  readonly clock?: Clock;
  /** Failures in a row that open it. Default 5. */
  readonly threshold?: number;
  /** Default 15 s; an upstream that asked for more is given it, up to a minute. */
  readonly resetMs?: number;
  readonly onChange?: (state: "closed" | "open") => void;
}

const longestCoolingMs = 60_000;

interface Opening {
  readonly failure: EngineFailed;
  /** When one call may try whether it works again. */
  tryAt: number;
}

export const createCircuitBreaker = (options: CircuitBreakerOptions = {}): CircuitBreaker => {
  const { clock = systemClock, threshold: most = 5, resetMs = 15_000, onChange } = options;
  let inARow = 0;
  let opening: Opening | undefined;

  const close = () => {
    inARow = 0;
    if (!opening) return;
    opening = undefined;
    onChange?.("closed");
  };

  const open = (failure: EngineFailed) => {
    const wasClosed = !opening;
    const asked = (failure.retryAfterSeconds ?? 0) * 1_000;
    opening = { failure, tryAt: clock.now() + Math.max(resetMs, Math.min(asked, longestCoolingMs)) };
    if (wasClosed) onChange?.("open");
  };

  const countFailure = (failure: EngineFailed) => {
    inARow++;
    if (opening || inARow >= most) open(failure);
  };

  return {
    start: () => {
      const entered = opening;
      if (entered) {
        const leftMs = entered.tryAt - clock.now();
        if (leftMs > 0) throw leftAlone(entered.failure, leftMs);
        // The next one in so long: a trial that never ends keeps nobody out for good.
        entered.tryAt = clock.now() + resetMs;
      }
      // What began before it was opened, or closed again, is no news.
      let counts = true;
      const end = (tell: () => void) => () => {
        if (counts && opening === entered) tell();
        counts = false;
      };
      return {
        answered: () => {
          if (entered) end(close)();
        },
        succeeded: end(close),
        failed: (failure) => end(() => countFailure(failure))(),
        ignored: end(() => {
          if (entered) entered.tryAt = clock.now();
        }),
      };
    },
    state: () => (opening ? "open" : "closed"),
  };
};

const leftAlone = (failure: EngineFailed, leftMs: number): EngineFailed =>
  new EngineFailed(
    `The speech provider failed again and again and is left alone for now: ${failure.message}`,
    {
      retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
    },
  );
