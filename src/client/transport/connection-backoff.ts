import { retryDelayMs } from "../api/retry.ts";
import { VoxledgerError } from "../errors.ts";

/**
 * Limits connection attempts across all speeches of a page. After a failure no attempt is allowed until its `Retry-After`
 * has passed, or an exponentially growing delay.
 */
export interface ConnectionBackoff {
  /** @throws {VoxledgerError} the last failure, with the remaining delay as `retryAfterSeconds` */
  assertAllowed(): void;
  recordFailure(failure: VoxledgerError): void;
  recordSuccess(): void;
}

export const createConnectionBackoff = ({
  now,
  random,
}: {
  now: () => number;
  random: () => number;
}): ConnectionBackoff => {
  let failures = 0;
  let last: { readonly failure: VoxledgerError; readonly at: number; readonly delayMs: number } | undefined;

  return {
    assertAllowed: () => {
      if (!last) return;
      const elapsedMs = now() - last.at;
      const remainingMs = last.delayMs - elapsedMs;
      if (remainingMs <= 0 || elapsedMs < 0) return; // negative: the clock was set back
      const { failure } = last;
      const retryAfterSeconds = remainingMs / 1_000;
      throw new VoxledgerError(failure.message, { ...failure, retryAfterSeconds, cause: failure });
    },
    recordFailure: (failure) => {
      last = { failure, at: now(), delayMs: retryDelayMs(failure, failures, random) };
      failures += 1;
    },
    recordSuccess: () => {
      failures = 0;
      last = undefined;
    },
  };
};
