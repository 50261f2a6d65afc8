import { z } from "zod";
import { Invalid, type Problem } from "./errors.ts";

/** Maximum number of reported problems. */
const maxProblems = 100;

/**
 * Parses a value.
 * @throws {Invalid} with one problem per error, each with its path
 */
export const parse = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const result = schema.safeParse(value, { error: plainMessage });
  if (result.success) return result.data;
  throw new Invalid(result.error.issues.flatMap((issue) => problemsOf(issue, [])).slice(0, maxProblems));
};

/** Replaces zod's "expected string, received undefined" and "expected number, received NaN". */
const plainMessage = (issue: z.core.$ZodRawIssue): string | undefined => {
  if (issue.code !== "invalid_type" || !issue.path?.length) return undefined;
  if (issue.input === undefined) return "is required.";
  return Number.isNaN(issue.input) ? "must be a number." : undefined;
};

const problemsOf = (issue: z.core.$ZodIssue, base: Problem["path"]): Problem[] => {
  const path = [...base, ...issue.path.map(step)];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...path, key], message: `There is no member "${key}" here.` }));
  }
  const meant = issue.code === "invalid_union" ? branchMeant(issue.errors) : undefined;
  if (meant) return meant.flatMap((inner) => problemsOf(inner, path));
  return [{ path, message: issue.message }];
};

/**
 * Finds the most likely branch of a union: among the branches of the value's type, the one with the
 * fewest errors.
 */
const branchMeant = (branches: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] | undefined =>
  branches.filter((issues) => !issues.some(isOfAnotherKind)).sort((a, b) => a.length - b.length)[0];

const isOfAnotherKind = ({ code, path }: z.core.$ZodIssue): boolean =>
  path.length === 0 && (code === "invalid_type" || code === "invalid_value");

const step = (key: PropertyKey): string | number => (typeof key === "number" ? key : String(key));

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A text on a single line: 1 to `max` characters, without control characters. */
export const singleLine = (max: number) =>
  z
    .string()
    .trim()
    .min(1, "must not be empty.")
    .max(max)
    .refine((text) => !controlCharacters.test(text), "Control characters are not allowed.");
