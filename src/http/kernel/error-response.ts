import { z } from "zod";
import type { Problem } from "../../domain/errors.ts";

/** One thing that is wrong with a request: where, and what. */
export const problem: z.ZodType<Problem> = z.object({
  path: z
    .array(z.union([z.string(), z.int()]))
    .meta({ description: "Where in the body or among the parameters; empty for the whole." }),
  message: z.string(),
});

/** The envelope of every error. */
export const apiError = z.object({
  message: z.string().meta({ description: "For people; its wording may change." }),
  statusCode: z.int().min(400).max(599).meta({ description: "The answer's status." }),
  code: z.string().optional().meta({ description: "For programs; absent when an upstream provider failed." }),
  errors: z
    .array(problem)
    .optional()
    .meta({ description: "With VALIDATION_ERROR: each thing that is wrong." }),
});

export const errorResponse = z.object({ error: apiError });
export type ErrorResponse = z.infer<typeof errorResponse>;
