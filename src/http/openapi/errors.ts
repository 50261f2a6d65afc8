import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import { type ErrorResponse, errorResponse } from "../kernel/error-response.ts";
import type { HeaderNames } from "../kernel/header-names.ts";
import {
  authenticate,
  limits,
  noStore,
  renewal,
  requestId,
  retryAfter,
  unsatisfied,
  upgrade,
} from "./headers.ts";

/** The answers that are errors: one description for each status, wherever it occurs. */

/** Who is told: a caller whose key is counted, or anybody else. */
export type Audience = "counted" | "anyone";

interface ErrorDescription {
  readonly name: string;
  readonly description: string;
  readonly headers?: z.ZodRawShape;
  readonly example: Omit<ErrorResponse["error"], "statusCode">;
  /** Also an answer from before the key was known. */
  readonly early?: true;
}

const errors = {
  400: {
    name: "Invalid",
    description: "The request is not as it must be; `errors` lists what is wrong.",
    example: {
      message: "pitch: Too big: expected number to be <=2",
      code: "VALIDATION_ERROR",
      errors: [{ path: ["pitch"], message: "Too big: expected number to be <=2" }],
    },
    early: true,
  },
  401: {
    name: "Unauthorized",
    description: "Credentials are missing or wrong.",
    headers: authenticate,
    example: { message: "The API key or secret is missing or wrong.", code: "UNAUTHORIZED" },
    early: true,
  },
  403: {
    name: "KeySuspended",
    description:
      "The key is suspended, or would pass its monthly quota with this request and is suspended now.",
    example: { message: "The key is suspended: invoice overdue.", code: "KEY_SUSPENDED" },
  },
  404: {
    name: "NotFound",
    description: "What was named is not there.",
    example: { message: 'There is no voice named "Nobody".', code: "NOT_FOUND" },
  },
  409: {
    name: "Conflict",
    description: "The request does not fit the state of what it names.",
    example: { message: "A key has at most 10 secrets: revoke one first.", code: "CONFLICT" },
  },
  413: {
    name: "PayloadTooLarge",
    description: "The body is larger than 1 MiB.",
    example: { message: "The body is larger than 1 MiB.", code: "PAYLOAD_TOO_LARGE" },
  },
  416: {
    name: "RangeNotSatisfiable",
    description: "The range lies outside the audio.",
    headers: unsatisfied,
    example: { message: "The range lies outside the audio.", code: "RANGE_NOT_SATISFIABLE" },
  },
  426: {
    name: "UpgradeRequired",
    description: "The address is spoken to over a WebSocket.",
    headers: upgrade,
    example: {
      message: "This address is spoken to over a WebSocket (RFC 6455, version 13).",
      code: "UPGRADE_REQUIRED",
    },
  },
  429: {
    name: "TooManyRequests",
    description:
      "Over the limit for a minute (`RATE_LIMIT_EXCEEDED`) or for a moment (`BURST_RATE_LIMIT_EXCEEDED`), or of open WebSockets (`TOO_MANY_SOCKETS`). The limit in the headers is the key's, or, for an address that failed to authenticate too often, that of failures.",
    headers: { ...limits, ...retryAfter },
    example: { message: "The key has no requests left in this minute.", code: "RATE_LIMIT_EXCEEDED" },
  },
  431: {
    name: "HeadersTooLarge",
    description: "The address or a header is longer than any that can be meant.",
    example: {
      message: "The address or a header of the request is too long.",
      code: "REQUEST_HEADER_FIELDS_TOO_LARGE",
    },
  },
  500: {
    name: "InternalError",
    description: "A fault of the service.",
    example: { message: "Something went wrong on our side.", code: "INTERNAL_ERROR" },
    early: true,
  },
  502: {
    name: "EngineFailed",
    description: "The engine failed; `message` carries its own words.",
    headers: { "Retry-After": retryAfter["Retry-After"].optional() },
    example: { message: "The speech provider gave no sound." },
  },
  503: {
    name: "Unavailable",
    description: "A part that the answer needs is not to be had now.",
    headers: retryAfter,
    example: { message: "The event store gave no answer in time.", code: "UNAVAILABLE" },
    early: true,
  },
} as const satisfies Record<number, ErrorDescription>;

export type ErrorStatus = keyof typeof errors;

/** The error answers of an operation; `more`: headers of its own that they carry too. */
export type ErrorAnswers = (
  audience: Audience,
  statuses: readonly ErrorStatus[],
  more?: z.ZodRawShape,
) => Partial<Record<`${ErrorStatus}`, ZodOpenApiResponseObject>>;

export const createErrorAnswers = (names: HeaderNames): ErrorAnswers => {
  const described = (
    status: ErrorStatus,
    audience: Audience,
    more: z.ZodRawShape,
  ): ZodOpenApiResponseObject => {
    const { description, example, headers, early }: ErrorDescription = errors[status];
    const counted = audience === "counted" && {
      ...(early ? z.object(limits).partial().shape : limits),
      ...(status !== 401 && renewal(names)),
    };
    return {
      description,
      headers: z.object({ ...requestId, ...noStore, ...counted, ...headers, ...more }),
      content: {
        "application/json": {
          schema: errorResponse,
          example: { error: { statusCode: status, ...example } },
        },
      },
    };
  };

  /** Told under one name each, because most operations share them. */
  const shared = new Map<string, ZodOpenApiResponseObject>();
  const sharedAnswer = (status: ErrorStatus, audience: Audience): ZodOpenApiResponseObject => {
    const id = `${errors[status].name}${audience === "counted" ? "Counted" : ""}`;
    const answer = shared.get(id) ?? { id, ...described(status, audience, {}) };
    shared.set(id, answer);
    return answer;
  };

  return (audience, statuses, more) =>
    Object.fromEntries(
      statuses.map((status) => [
        String(status),
        more ? described(status, audience, more) : sharedAnswer(status, audience),
      ]),
    );
};
