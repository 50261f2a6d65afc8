import type { z } from "zod";
import {
  Archived,
  Conflict,
  EngineFailed,
  Forbidden,
  Invalid,
  KeyIsSuspended,
  KeyOverloaded,
  NotFound,
  ServiceError,
  Unauthorized,
  Unavailable,
} from "../../../domain/errors.ts";
import { describeLimits, limits, RateLimited } from "../../../limits/limits.ts";
import { noStore } from "../../caching/cache-control.ts";
import { rateLimits, retryAfter, unsatisfiedRange, upgrade, wwwAuthenticate } from "../headers.ts";
import { detailsOf, type ErrorResponse } from "./error-response.ts";

/** An error as it is sent. Nothing else about the error may leave the service. */
export interface PresentedError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorResponse;
}

/** The errors of HTTP itself; those of the service are in domain/errors.ts. */
class HttpError extends Error {
  override readonly name = this.constructor.name;
}

/** The path exists, but not with this method. */
export class MethodNotAllowed extends HttpError {
  readonly allow: readonly string[];

  constructor(allow: readonly string[]) {
    super("The method is not allowed here.");
    this.allow = allow;
  }
}

/** The request did not arrive completely within the server's timeout. */
export class TooSlow extends HttpError {
  constructor() {
    super("The request took too long to arrive.");
  }
}

export class PayloadTooLarge extends HttpError {
  constructor() {
    super("The body is larger than 1 MiB.");
  }
}

export class RangeNotSatisfiable extends ServiceError {
  override readonly name = "RangeNotSatisfiable";
  readonly size: number;

  constructor(size: number) {
    super("The range lies outside the audio.");
    this.size = size;
  }
}

/** The path is only for WebSocket handshakes. */
export class UpgradeRequired extends HttpError {
  constructor() {
    super("This address requires a WebSocket (RFC 6455, version 13).");
  }
}

/** The URL or the headers exceed the server's limit. */
export class HeadersTooLarge extends HttpError {
  constructor() {
    super("The URL or a header of the request is too long.");
  }
}

type Headers = Readonly<Record<string, string>>;

type ErrorClass<E extends Error> = abstract new (...args: never[]) => E;

/** Describes how an error is sent, and how the OpenAPI document shows it. */
export interface ErrorType<E extends Error = Error> {
  /**
   * It is absent for 500, which any other error becomes. Of two types that an error has, that of
   * the lower status applies.
   */
  readonly type?: ErrorClass<E> | readonly ErrorClass<E>[];
  /** It is absent if an upstream provider failed. */
  readonly code?: string | ((error: E) => string);
  readonly headers?: (error: E) => Headers;
  /** The name of the response component; the default is the name of the type. */
  readonly name?: string;
  /** The default is the message of the example. */
  readonly description?: string;
  readonly headerSchemas?: z.ZodRawShape;
  readonly example: E;
  /** Replaces these members in the document of the admin API. */
  readonly admin?: Required<Pick<ErrorType, "name" | "description" | "example">>;
  /**
   * `before`: the error occurs only before the caller is authenticated; `either`: before and after.
   * Default: only after.
   */
  readonly authentication?: "before" | "either";
}

/** Lets TypeScript check each entry against its own type of error. */
const errorType = <E extends Error>(entry: ErrorType<E>): ErrorType => entry as unknown as ErrorType;

const retryAfterOf = ({ retryAfterSeconds: seconds }: { retryAfterSeconds: number | undefined }): Headers =>
  seconds === undefined ? {} : { "Retry-After": String(seconds) };

/**
 * Callers that are refused before their key is known see these. Others see the key's own limits.
 */
const failureLimits = {
  "X-RateLimit-Limit": String(limits.failures.atMost),
  "X-RateLimit-Remaining": "0",
};

/** The status, code and headers of every error that an operation may declare. */
export const errorTypes = {
  400: errorType({
    type: Invalid,
    code: "VALIDATION_ERROR",
    description: "The request is invalid; `errors` lists every problem.",
    example: new Invalid([{ path: ["pitch"], message: "Too big: expected number to be <=2" }]),
    authentication: "either",
  }),
  401: errorType({
    type: Unauthorized,
    code: "UNAUTHORIZED",
    headers: () => ({ "WWW-Authenticate": "Bearer" }),
    description: "The credentials are missing or wrong.",
    headerSchemas: wwwAuthenticate,
    example: new Unauthorized("The API key or secret is missing or wrong."),
    authentication: "either",
  }),
  403: errorType({
    type: Forbidden,
    code: (error) => (error instanceof KeyIsSuspended ? "KEY_SUSPENDED" : "FORBIDDEN"),
    name: "KeySuspended",
    description: "The key is suspended. A request that would exceed the monthly quota suspends its key.",
    example: new KeyIsSuspended("invoice overdue", "operator"),
    admin: {
      name: "Forbidden",
      description: "The operation requires an operator's token.",
      example: new Forbidden("This operation requires an operator's token."),
    },
  }),
  404: errorType({
    type: NotFound,
    code: "NOT_FOUND",
    description: "The resource does not exist.",
    example: new NotFound('There is no voice named "Nobody".'),
  }),
  405: errorType({
    type: MethodNotAllowed,
    code: "METHOD_NOT_ALLOWED",
    headers: ({ allow }) => ({ Allow: allow.join(", ") }),
    example: new MethodNotAllowed(["GET"]),
  }),
  408: errorType({
    type: TooSlow,
    code: "REQUEST_TIMEOUT",
    example: new TooSlow(),
    authentication: "before",
  }),
  409: errorType({
    type: Conflict,
    code: "CONFLICT",
    description: "The request conflicts with the state of the resource.",
    example: new Conflict("A key has at most 10 secrets: revoke one first."),
  }),
  410: errorType({
    type: Archived,
    code: "ARCHIVED",
    description:
      "The response needs single servings that were deleted after they were archived; `archives` names the files that have them.",
    example: new Archived([{ file: "5b".repeat(32), journals: 3, months: ["2026-01"] }]),
  }),
  413: errorType({
    type: PayloadTooLarge,
    code: "PAYLOAD_TOO_LARGE",
    example: new PayloadTooLarge(),
  }),
  416: errorType({
    type: RangeNotSatisfiable,
    code: "RANGE_NOT_SATISFIABLE",
    headers: ({ size }) => ({ "Content-Range": `bytes */${size}` }),
    headerSchemas: unsatisfiedRange,
    example: new RangeNotSatisfiable(17_972),
  }),
  426: errorType({
    type: UpgradeRequired,
    code: "UPGRADE_REQUIRED",
    // The version is for clients that ask for another one (RFC 6455, section 4.4).
    headers: () => ({ Upgrade: "websocket", Connection: "Upgrade", "Sec-WebSocket-Version": "13" }),
    headerSchemas: upgrade,
    example: new UpgradeRequired(),
    authentication: "before",
  }),
  429: errorType<RateLimited | KeyOverloaded>({
    type: [RateLimited, KeyOverloaded],
    code: (error) => (error instanceof RateLimited ? limits[error.kind].beyond.code : "KEY_OVERLOADED"),
    headers: (error) => ({
      ...(error instanceof RateLimited && error.kind === "failures" && failureLimits),
      ...retryAfterOf(error),
    }),
    name: "TooManyRequests",
    description: `${describeLimits()} Or it has too many requests in progress that wait for the same part of the service (\`KEY_OVERLOADED\`), while other keys are served. The headers show the key's limit, or, for a wrong secret from an address that has presented too many, the limit on these.`,
    headerSchemas: { ...rateLimits, ...retryAfter },
    example: new RateLimited("The key has no requests left in this minute.", "minute", 42),
  }),
  431: errorType({
    type: HeadersTooLarge,
    code: "REQUEST_HEADER_FIELDS_TOO_LARGE",
    example: new HeadersTooLarge(),
    authentication: "before",
  }),
  500: errorType({
    code: "INTERNAL_ERROR",
    name: "InternalError",
    description: "An internal error.",
    example: new Error(),
    authentication: "either",
  }),
  502: errorType({
    type: EngineFailed,
    headers: retryAfterOf,
    description: "Another server failed, for example the engine's; `message` says how.",
    headerSchemas: { "Retry-After": retryAfter["Retry-After"].optional() },
    example: new EngineFailed("The provider returned no audio."),
  }),
  503: errorType({
    type: Unavailable,
    code: "UNAVAILABLE",
    headers: retryAfterOf,
    description: "A part of the service that the request needs is unavailable.",
    headerSchemas: retryAfter,
    example: new Unavailable("The event store did not respond in time.", 1),
    authentication: "either",
  }),
};

export type ErrorStatus = keyof typeof errorTypes;

const statuses = Object.keys(errorTypes).map(Number) as ErrorStatus[];

/**
 * The only place where an error becomes a response. An unknown error becomes a 500 that reveals
 * nothing.
 */
export const presentError = (error: unknown): PresentedError => {
  const status = statuses.find((one) => isOfType(error, errorTypes[one])) ?? 500;
  const { code, headers } = errorTypes[status];
  const { message } = status === 500 ? unknownError : (error as Error);
  return {
    status,
    headers: { "Cache-Control": noStore, ...headers?.(error as Error) },
    body: {
      error: {
        message,
        statusCode: status,
        ...(code && { code: typeof code === "string" ? code : code(error as Error) }),
        ...detailsOf(error),
      },
    },
  };
};

const isOfType = (error: unknown, { type = [] }: ErrorType): boolean =>
  [type].flat().some((one) => error instanceof one);

const unknownError = { message: "Something went wrong on our side." };

/**
 * The code of an error and its reason without parts of texts, for the log. An internal error has
 * its own line.
 */
export const describeRefusal = (error: unknown): { readonly code?: string; readonly reason?: string } => {
  const { status, body } = presentError(error);
  const { code } = body.error;
  const reason = error instanceof ServiceError ? error.loggable : body.error.message;
  return { ...(code && { code }), ...(status !== 500 && { reason }) };
};

/** True if the service itself is at fault; such errors are logged with their stack. */
export const isInternalError = ({ status }: Pick<PresentedError, "status">): boolean => status === 500;

/** True if the key has used up its plan's characters of the month. */
export const isQuotaExhausted = (error: unknown): boolean =>
  error instanceof KeyIsSuspended && error.by === "quota";

/** True if the same request may succeed later. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof RateLimited ||
  error instanceof Unavailable ||
  (error instanceof EngineFailed && !error.permanent);
