import { z } from "zod";
import type { Problem } from "../../domain/errors.ts";

/** One problem of an invalid request. */
export const problem: z.ZodType<Problem> = z
  .object({
    path: z
      .array(z.union([z.string(), z.int()]))
      .meta({ description: "The place in the body or the parameters; empty for the whole." }),
    message: z.string(),
  })
  .meta({ id: "Problem" });

/** The envelope of every error. */
const apiError = z
  .object({
    message: z.string().meta({ description: "For people; the wording may change." }),
    statusCode: z.int().min(400).max(599).meta({ description: "The status of the response." }),
    code: z.string().optional().meta({ description: "For programs; absent if an upstream provider failed." }),
    errors: z
      .array(problem)
      .optional()
      .meta({ description: "Only with VALIDATION_ERROR: every problem of the request." }),
  })
  .meta({ id: "ApiError" });

export const errorResponse = z.object({ error: apiError }).meta({ id: "ErrorResponse" });
export type ErrorResponse = z.infer<typeof errorResponse>;
