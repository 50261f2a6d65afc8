import type { Clock } from "../../../async/deadline.ts";
import { untilAborted } from "../../../async/until-aborted.ts";
import { s3Code } from "./failure.ts";

const attempts = 5;
const firstPauseMs = 50;

/**
 * S3's error responses that say that the same request may succeed later (Amazon S3 API Reference, "Error Responses" and
 * "Best practices for errors"); HTTP_… where the client threw without reading the code.
 */
const transient: readonly string[] = [
  "InternalError",
  "ServiceUnavailable",
  "SlowDown",
  "RequestTimeout",
  "OperationAborted",
  "ConditionalRequestConflict",
  "HTTP_408",
  "HTTP_429",
  "HTTP_500",
  "HTTP_502",
  "HTTP_503",
  "HTTP_504",
];

/**
 * Repeats what failed in a transient way, a few times, with exponential back-off and jitter: 0.75 s of pauses at most.
 * Everything that is asked of the server is idempotent, so a repeat is safe although the first outcome is unknown.
 */
export const retryTransient = async <T>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  run: () => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted || attempt === attempts || !transient.includes(s3Code(error))) throw error;
    }
    await pause(clock, firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2), signal);
  }
};

/** @throws the signal's reason */
const pause = async (clock: Clock, ms: number, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  try {
    await untilAborted(promise, signal);
  } finally {
    cancel();
  }
};
