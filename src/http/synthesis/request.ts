import { z } from "zod";
import type { SynthesisRequest } from "../../application/synthesis.ts";
import { Invalid, type Problem } from "../../domain/errors.ts";
import { audioFormats, countCharacters, engineCodes } from "../../domain/speech.ts";
import { parse } from "../validation.ts";

/** SynthesizeRequest (spec 2.7): one schema for the body and for the query. */
export const synthesizeRequest = (maxCharacters: number) =>
  z
    .object({
      text: z
        .string({ error: "text is required." })
        .refine((text) => text.trim() !== "", "text has nothing to speak.")
        .refine((text) => text.isWellFormed(), "text has half a surrogate pair.")
        .refine(
          (text) => countCharacters(text) <= maxCharacters,
          `text is longer than ${maxCharacters} characters.`,
        ),
      voice: z.string().min(1).max(100).optional(),
      lang: z
        .string()
        .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,7}$/, "lang must be a BCP-47 code.")
        .optional(),
      engine: z.enum(engineCodes).optional(),
      name: z.string().min(1).max(100).optional(),
      gender: z.enum(["m", "male", "f", "female"]).transform(normalGender).optional(),
      pitch: z.number().min(0).max(2).default(1),
      rate: z.number().min(0).max(2).default(1),
      volume: z.number().min(0).max(1).default(1),
      format: z.enum(audioFormats).optional(),
    })
    .refine(({ voice, lang }) => voice !== undefined || lang !== undefined, {
      error: "Either voice or lang is required.",
      path: ["lang"],
    });

export type RequestSchema = ReturnType<typeof synthesizeRequest>;

/** @throws {Invalid} */
export const requestFromBody = (schema: RequestSchema, body: unknown): SynthesisRequest =>
  toRequest(parse(schema, body));

/**
 * Reads the query's parameters; `pitch=` and `pitch=null` count as absent, unknown ones are left alone.
 * @throws {Invalid} for whatever the schema refuses, and for a parameter that is given twice
 */
export const requestFromQuery = (schema: RequestSchema, query: string): SynthesisRequest =>
  toRequest(parse(schema, queryValues(query, parameters)));

/**
 * The named parameters of a query as a schema takes them: pitch, rate and volume as numbers, the rest as text.
 * @throws {Invalid} for a parameter that is given twice
 */
export const queryValues = (query: string, names: readonly string[]): Record<string, string | number> => {
  const given = new URLSearchParams(query);
  const values: Record<string, string | number> = {};
  const repeated: Problem[] = [];
  for (const name of names) {
    const [value, ...others] = given.getAll(name);
    if (others.length > 0) repeated.push({ path: [name], message: `${name} is given more than once.` });
    if (value === undefined) continue;
    if (!numbers.has(name)) values[name] = value;
    else if (value !== "" && value !== "null") values[name] = decimal(value);
  }
  if (repeated.length > 0) throw new Invalid(repeated);
  return values;
};

const numbers = new Set(["pitch", "rate", "volume"]);
const parameters = ["text", "voice", "lang", "engine", "name", "gender", "format", ...numbers];

/** A plain decimal, or NaN, which the schema refuses: not 0x1, not a blank. */
const decimal = (value: string): number =>
  /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(value) ? Number(value) : Number.NaN;

function normalGender(gender: "m" | "male" | "f" | "female"): "male" | "female" {
  return gender.startsWith("m") ? "male" : "female";
}

const toRequest = ({ pitch, rate, volume, ...rest }: z.output<RequestSchema>): SynthesisRequest => ({
  ...rest,
  prosody: { pitch, rate, volume },
});
