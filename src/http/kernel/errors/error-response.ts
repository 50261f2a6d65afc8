import { z } from "zod";
import type { Problem } from "../../../domain/errors.ts";
import { namedSchema } from "../named-schema.ts";

/** One problem of an invalid request. */
export const problem: z.ZodType<Problem> = namedSchema("Problem", {
  path: z
    .array(z.union([z.string(), z.int()]))
    .meta({ description: "The place in the body or the parameters; empty for the whole." }),
  message: z.string(),
});

/** The envelope of every error. */
const apiError = namedSchema("ApiError", {
  message: z.string().meta({ description: "For people; the wording may change." }),
  statusCode: z.int().min(400).max(599).meta({ description: "The status of the response." }),
  code: z.string().optional().meta({ description: "For programs; absent if an upstream provider failed." }),
  errors: z
    .array(problem)
    .optional()
    .meta({ description: "Only with VALIDATION_ERROR: every problem of the request." }),
});

export const errorResponse = namedSchema("ErrorResponse", { error: apiError });
export type ErrorResponse = z.infer<typeof errorResponse>;
