import { z } from "zod";
import { Invalid, KeyOverloaded, NotFound } from "../../../domain/errors.ts";
import { RateLimited } from "../../../limits/limits.ts";
import { isQuotaExhausted, isRetryable, presentError } from "../../kernel/errors/error-codes.ts";
import type { ErrorEnvelope } from "../../kernel/errors/error-envelope.ts";
import { shouldRetry } from "../../kernel/headers.ts";
import { namedSchema } from "../../kernel/named-schema.ts";

const openAiError = namedSchema("OpenAiError", {
  message: z.string().meta({ description: "For people; the wording may change." }),
  type: z
    .string()
    .meta({ description: "`invalid_request_error`, `requests`, `insufficient_quota` or `server_error`." }),
  param: z.string().nullable().meta({ description: "The member of the body that is invalid." }),
  code: z
    .string()
    .nullable()
    .meta({ description: "For programs, such as `invalid_api_key` or `model_not_found`." }),
});

const openAiErrorResponse = namedSchema("OpenAiErrorResponse", { error: openAiError });

/** Clients repeat such requests unless `x-should-retry` forbids it. */
const isRepeatedByClients = (status: number): boolean => status === 429 || status >= 500;

/**
 * The envelope, types and codes of OpenAI's API. An exhausted quota is a 429 there, as its clients
 * expect.
 * https://platform.openai.com/docs/guides/error-codes
 */
export const openAiEnvelope: ErrorEnvelope = {
  name: "OpenAi",
  schema: openAiErrorResponse,
  headersOf: (status) => (isRepeatedByClients(status) ? shouldRetry : {}),
  present: (error) => {
    const presented = presentError(error);
    const status = statusOf(error) ?? presented.status;
    const { message, code = "engine_failed" } = presented.body.error;
    return {
      status,
      headers: {
        ...presented.headers,
        ...(isRepeatedByClients(status) && { "x-should-retry": String(isRetryable(error)) }),
      },
      body: {
        error: {
          message,
          type: typeOf(error, status),
          param: paramOf(error),
          code: codeOf(error) ?? code.toLowerCase(),
        },
      } satisfies z.input<typeof openAiErrorResponse>,
    };
  },
};

/**
 * Returns the status in OpenAI's API if it differs. An unknown voice is a 400 there, because voices
 * are the values of an enumeration.
 */
const statusOf = (error: unknown): number | undefined => {
  if (isQuotaExhausted(error)) return 429;
  return isUnknownVoice(error) ? 400 : undefined;
};

const isUnknownVoice = (error: unknown): boolean => error instanceof NotFound && error.resource === "voice";

const typeOf = (error: unknown, status: number): string => {
  if (isQuotaExhausted(error)) return "insufficient_quota";
  if (status === 429) return "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
};

/** OpenAI's codes, where they differ from the service's own in lower case. */
const codeOf = (error: unknown): string | undefined => {
  if (isQuotaExhausted(error)) return "insufficient_quota";
  if (error instanceof RateLimited || error instanceof KeyOverloaded) return "rate_limit_exceeded";
  if (isUnknownVoice(error)) return codes[400];
  if (error instanceof NotFound && error.resource) return `${memberOf(error.resource)}_not_found`;
  return codes[presentError(error).status];
};

const codes: Readonly<Record<number, string>> = { 400: "invalid_value", 401: "invalid_api_key" };

/**
 * OpenAI's names for members of requests, where they differ from the service's own. An engine is
 * chosen as a model.
 */
const members: Readonly<Record<string, string>> = {
  text: "input",
  format: "response_format",
  rate: "speed",
  name: "voice",
  engine: "model",
};

const memberOf = (name: string): string => members[name] ?? name;

const paramOf = (error: unknown): string | null => {
  if (error instanceof NotFound && error.resource) return memberOf(error.resource);
  const [problem] = error instanceof Invalid ? error.problems : [];
  const [name, ...inner] = problem?.path ?? [];
  return name === undefined ? null : [memberOf(String(name)), ...inner].join(".");
};
