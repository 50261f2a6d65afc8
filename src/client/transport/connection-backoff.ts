import { backoffMs } from "../api/retry.ts";
import { VoxledgerError } from "../errors.ts";

/**
 * Spaces out attempts to connect across all that is spoken, because a page that speaks often would otherwise connect as
 * often. Waits as long as the last failure's `retryAfterSeconds` says, or else longer after each failure in a row.
 */
export interface ConnectionBackoff {
  /** @throws {VoxledgerError} the last failure, with the time that is left to wait */
  assertAllowed(): void;
  failed(failure: VoxledgerError): void;
  succeeded(): void;
}

export const createConnectionBackoff = ({
  now,
  random,
}: {
  now: () => number;
  random: () => number;
}): ConnectionBackoff => {
  let failures = 0;
  let last: { readonly failure: VoxledgerError; readonly at: number; readonly waitMs: number } | undefined;

  return {
    assertAllowed: () => {
      if (!last) return;
      const waited = now() - last.at;
      const left = last.waitMs - waited;
      if (left <= 0 || waited < 0) return; // the clock was set back
      const { message, status, code, errors, retryable } = last.failure;
      throw new VoxledgerError(message, {
        ...{ status, code, errors, retryable },
        retryAfterSeconds: left / 1_000,
        cause: last.failure,
      });
    },
    failed: (failure) => {
      const { retryAfterSeconds } = failure;
      const waitMs =
        retryAfterSeconds === undefined ? backoffMs(failures, random) : retryAfterSeconds * 1_000;
      last = { failure, at: now(), waitMs };
      failures += 1;
    },
    succeeded: () => {
      failures = 0;
      last = undefined;
    },
  };
};
