import { maxFailuresPerMinute } from "../../application/access/failed-attempts.ts";
import {
  Conflict,
  EngineFailed,
  Invalid,
  KeyIsSuspended,
  NotFound,
  type Problem,
  RateLimited,
  Unauthorized,
  Unavailable,
} from "../../domain/errors.ts";
import type { ErrorResponse } from "./error-response.ts";

export type { ErrorResponse };

/** An error as it goes out: what a caller may know of it. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorResponse;
}

/** The path is there, the method is not. */
export class MethodNotAllowed extends Error {
  override readonly name = "MethodNotAllowed";
  readonly allow: readonly string[];

  constructor(allow: readonly string[]) {
    super("The method is not allowed here.");
    this.allow = allow;
  }
}

/** The range asked for lies outside the object. */
export class RangeNotSatisfiable extends Error {
  override readonly name = "RangeNotSatisfiable";
  readonly size: number;

  constructor(size: number) {
    super("The range lies outside the audio.");
    this.size = size;
  }
}

/** The address is spoken to over a WebSocket. */
export class UpgradeRequired extends Error {
  override readonly name = "UpgradeRequired";

  constructor() {
    super("This address is spoken to over a WebSocket (RFC 6455, version 13).");
  }
}

/** The body is larger than any that is read. */
export class PayloadTooLarge extends Error {
  override readonly name = "PayloadTooLarge";

  constructor() {
    super("The body is larger than 1 MiB.");
  }
}

/** The address or a header is longer than any that can be meant. */
export class HeadersTooLarge extends Error {
  override readonly name = "HeadersTooLarge";

  constructor() {
    super("The address or a header of the request is too long.");
  }
}

/** The request did not come to its end in time. */
export class TooSlow extends Error {
  override readonly name = "TooSlow";

  constructor() {
    super("The request took too long to arrive.");
  }
}

/** The one place where errors become statuses. Whatever is not known here is a 500 that tells nothing. */
export const presentError = (error: unknown): ErrorAnswer => {
  if (error instanceof Invalid) return answer(400, "VALIDATION_ERROR", error, {}, error.problems);
  if (error instanceof Unauthorized)
    return answer(401, "UNAUTHORIZED", error, { "WWW-Authenticate": "Bearer" });
  if (error instanceof KeyIsSuspended) return answer(403, "KEY_SUSPENDED", error);
  if (error instanceof NotFound) return answer(404, "NOT_FOUND", error);
  if (error instanceof MethodNotAllowed) {
    return answer(405, "METHOD_NOT_ALLOWED", error, { Allow: error.allow.join(", ") });
  }
  if (error instanceof Conflict) return answer(409, "CONFLICT", error);
  if (error instanceof PayloadTooLarge) return answer(413, "PAYLOAD_TOO_LARGE", error);
  if (error instanceof TooSlow) return answer(408, "REQUEST_TIMEOUT", error);
  if (error instanceof UpgradeRequired) {
    return answer(426, "UPGRADE_REQUIRED", error, upgradeHeaders);
  }
  if (error instanceof HeadersTooLarge) return answer(431, "REQUEST_HEADER_FIELDS_TOO_LARGE", error);
  if (error instanceof RangeNotSatisfiable) {
    return answer(416, "RANGE_NOT_SATISFIABLE", error, { "Content-Range": `bytes */${error.size}` });
  }
  if (error instanceof RateLimited) {
    const limits = error.kind === "failures" ? failureLimits : {};
    return answer(429, rateLimitCodes[error.kind], error, {
      ...limits,
      ...retryAfter(error.retryAfterSeconds),
    });
  }
  if (error instanceof EngineFailed)
    return answer(502, undefined, error, retryAfter(error.retryAfterSeconds));
  if (error instanceof Unavailable) {
    return answer(503, "UNAVAILABLE", error, retryAfter(error.retryAfterSeconds));
  }
  return answer(500, "INTERNAL_ERROR", { message: "Something went wrong on our side." });
};

const rateLimitCodes: Readonly<Record<RateLimited["kind"], string>> = {
  minute: "RATE_LIMIT_EXCEEDED",
  failures: "RATE_LIMIT_EXCEEDED",
  burst: "BURST_RATE_LIMIT_EXCEEDED",
  sockets: "TOO_MANY_SOCKETS",
};

/** The version is named for clients that ask for another one (RFC 6455, section 4.4). */
const upgradeHeaders = { Upgrade: "websocket", Connection: "Upgrade", "Sec-WebSocket-Version": "13" };

/** Whether the error is the service's own fault and belongs in the log with its stack. */
export const isOurFault = ({ status }: ErrorAnswer): boolean => status === 500;

/** Whether the same request may well succeed later: the limits, an upstream's failure, a part that is not to be had. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof RateLimited ||
  error instanceof Unavailable ||
  (error instanceof EngineFailed && !error.permanent);

const answer = (
  status: number,
  code: string | undefined,
  { message }: { message: string },
  headers: Record<string, string> = {},
  errors?: readonly Problem[],
): ErrorAnswer => ({
  status,
  headers: { "Cache-Control": "no-store", ...headers },
  body: {
    error: { message, statusCode: status, ...(code && { code }), ...(errors && { errors: [...errors] }) },
  },
});

/** Of who is refused before the key is known; a key's own limits are the gate's to tell. */
const failureLimits = {
  "X-RateLimit-Limit": String(maxFailuresPerMinute),
  "X-RateLimit-Remaining": "0",
};

const retryAfter = (seconds: number | undefined): Record<string, string> =>
  seconds === undefined ? {} : { "Retry-After": String(seconds) };
