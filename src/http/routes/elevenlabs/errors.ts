import { z } from "zod";
import { KeyOverloaded, NotFound } from "../../../domain/errors.ts";
import { isQuotaExhausted, presentError } from "../../kernel/errors/error-codes.ts";
import type { ErrorEnvelope } from "../../kernel/errors/error-envelope.ts";
import { namedSchema } from "../../kernel/named-schema.ts";

const elevenLabsErrorResponse = namedSchema("ElevenLabsErrorResponse", {
  detail: namedSchema("ElevenLabsError", {
    status: z.string().meta({ description: "For programs, such as `invalid_api_key` or `voice_not_found`." }),
    message: z.string().meta({ description: "For people; the wording may change." }),
  }),
});

/**
 * The envelope and codes of ElevenLabs' API. An exhausted quota is a 401 there, as its clients
 * expect.
 */
export const elevenLabsEnvelope: ErrorEnvelope = {
  name: "ElevenLabs",
  schema: elevenLabsErrorResponse,
  headersOf: () => ({}),
  present: (error) => {
    const { status, headers, body } = presentError(error);
    const { message, code = "engine_failed" } = body.error;
    return {
      status: isQuotaExhausted(error) ? 401 : status,
      headers,
      body: {
        detail: { status: codeOf(error) ?? code.toLowerCase(), message },
      } satisfies z.input<typeof elevenLabsErrorResponse>,
    };
  },
};

/** ElevenLabs' codes, where they differ from the service's own in lower case. */
const codeOf = (error: unknown): string | undefined => {
  if (isQuotaExhausted(error)) return "quota_exceeded";
  if (error instanceof KeyOverloaded) return "too_many_concurrent_requests";
  if (error instanceof NotFound && error.resource) return `${error.resource}_not_found`;
  return presentError(error).status === 401 ? "invalid_api_key" : undefined;
};
