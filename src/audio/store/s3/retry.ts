import { afterErrors, retry } from "../../../async/retry.ts";
import type { Time } from "../../../async/time.ts";
import { s3Code } from "./failure.ts";

/**
 * Error responses of S3 after which the same request may succeed later (Amazon S3 API Reference,
 * "Error Responses" and "Best practices for errors"). `HTTP_…`: the client threw without reading
 * the code.
 */
const transient: readonly string[] = [
  "InternalError",
  "ServiceUnavailable",
  "SlowDown",
  "RequestTimeout",
  "OperationAborted",
  "ConditionalRequestConflict",
  ...[408, 429, 500, 502, 503, 504].map((status) => `HTTP_${status}`),
];

/**
 * Repeats a request that failed with a transient error. The delays add up to 0.75 s at most. All
 * requests of the store are idempotent, so a repeat is safe even if the outcome of the first
 * attempt is unknown.
 */
export const retryTransient = <T>(
  { time, signal }: { readonly time: Time; readonly signal: AbortSignal },
  run: () => Promise<T>,
): Promise<T> => retry({ time, signal, delayAfter }, run);

const delayAfter = afterErrors((error) => transient.includes(s3Code(error)), {
  firstMs: 50,
  maxAttempts: 5,
});
