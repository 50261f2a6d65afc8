import { z } from "zod";
import { Archived, type ArchivedPart, Invalid, type Problem } from "../../../domain/errors.ts";
import { namedSchema } from "../named-schema.ts";

/** One problem of an invalid request. */
export const problem: z.ZodType<Problem> = namedSchema("Problem", {
  path: z
    .array(z.union([z.string(), z.int()]))
    .meta({ description: "The place in the body or the parameters; empty for the whole." }),
  message: z.string(),
});

/** A file that has journals which the log no longer has. */
const archivedPart: z.ZodType<ArchivedPart> = namedSchema("ArchivedPart", {
  file: z.string().meta({ description: "The file's SHA-256 (hex), as in the event `JournalsArchived`." }),
  journals: z.int().min(1).meta({ description: "How many journals of the file the response needs." }),
  months: z.array(z.string()).meta({ description: "The months (UTC) in which they were written." }),
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
  archives: z
    .array(archivedPart)
    .optional()
    .meta({ description: "Only with ARCHIVED: the files that have the servings." }),
});

export const errorResponse = namedSchema("ErrorResponse", { error: apiError });
export type ErrorResponse = z.infer<typeof errorResponse>;

/** What an error says besides its message. */
export const detailsOf = (error: unknown): Pick<z.infer<typeof apiError>, "errors" | "archives"> => ({
  ...(error instanceof Invalid && { errors: [...error.problems] }),
  ...(error instanceof Archived && { archives: [...error.archives] }),
});
