import { z } from "zod";
import type { SynthesisRequest } from "../../../application/synthesis/synthesis.ts";
import { Invalid, type Problem } from "../../../domain/errors.ts";
import {
  audioFormats,
  countCharacters,
  type Gender,
  type GenderName,
  genderNames,
} from "../../../domain/synthesis/speech.ts";
import { parse } from "../../kernel/validation.ts";
import { TTSService } from "../voices/schemas.ts";

export const AudioFormat = z.enum(audioFormats);
export const VoiceGender = z.enum(genderNames).transform(normalGender);

/** SynthesizeRequest: one schema for the body and for the query. */
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
        )
        .meta({
          description: "Plain text, or SSML: a text that begins with `<speak`.",
          minLength: 1,
          maxLength: maxCharacters,
          examples: ["The train to Oxford leaves at nine."],
        }),
      voice: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .meta({
          description: "A voice by its friendly name, which settles engine and language.",
          examples: ["UK English Female"],
        }),
      lang: z
        .string()
        .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,7}$/, "lang must be a BCP-47 code.")
        .optional()
        .meta({
          description: "BCP-47 language code; required unless `voice` is given.",
          examples: ["en-GB"],
        }),
      engine: TTSService.optional().meta({
        description: "This engine alone. Without it g1, then the other free engines.",
        examples: ["g1"],
      }),
      name: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .meta({
          description:
            "A system voice by its name or its `voiceName`, or a voice by its friendly name, exactly or else ignoring " +
            "case. With `engine`, that engine's alone. Prefer `voice`.",
          examples: ["espeak:gmw/en+f3"],
        }),
      gender: VoiceGender.optional().meta({
        description: "Preferred when no voice is named.",
        examples: ["female"],
      }),
      pitch: z.number().min(0).max(2).default(1).meta({ description: "1 is normal." }),
      rate: z.number().min(0).max(2).default(1).meta({ description: "1 is normal." }),
      volume: z
        .number()
        .min(0)
        .max(1)
        .default(1)
        .meta({ description: "0 is silence: 204, and nothing is made." }),
      format: AudioFormat.optional().meta({
        description: "One that the engine has; without it the engine's default.",
        examples: ["mp3"],
      }),
    })
    .refine(({ voice, lang }) => voice !== undefined || lang !== undefined, {
      error: "Either voice or lang is required.",
      path: ["lang"],
    })
    .meta({ anyOf: [{ required: ["voice"] }, { required: ["lang"] }] });

export type RequestSchema = ReturnType<typeof synthesizeRequest>;

/** @throws {Invalid} */
export const requestFromBody = (schema: RequestSchema, body: unknown): SynthesisRequest =>
  toRequest(parse(schema, body));

export const streamed = z.object({
  stream: z.boolean().optional().meta({
    description: "Speech while it is made, as server-sent events. Premium engines alone.",
  }),
});

/** Whether the body asks for a stream of events, as the voices' links tell it to. @throws {Invalid} */
export const asksForStream = (body: unknown): boolean => parse(streamed, body).stream === true;

/**
 * Reads the query's parameters; empty ones and `pitch=null` count as absent, unknown ones are ignored.
 * @throws {Invalid} for whatever the schema refuses, and for a parameter that is given twice
 */
export const requestFromQuery = (schema: RequestSchema, query: string): SynthesisRequest =>
  toRequest(parse(schema, queryValues(query, parameters)));

/**
 * The named parameters of a query as a schema takes them: pitch, rate and volume as numbers, the rest as text. Empty ones
 * are left out, as legacy clients send `name=` with every request.
 * @throws {Invalid} for a parameter that is given twice, and for a query that is not percent-encoded UTF-8
 */
export const queryValues = (query: string, names: readonly string[]): Record<string, string | number> => {
  if (!isDecodable(query)) {
    throw new Invalid([{ path: [], message: "The query must be percent-encoded UTF-8." }]);
  }
  const given = new URLSearchParams(query);
  const values: Record<string, string | number> = {};
  const repeated: Problem[] = [];
  for (const name of names) {
    const [value, ...others] = given.getAll(name);
    if (others.length > 0) repeated.push({ path: [name], message: `${name} is given more than once.` });
    if (value === undefined || value === "") continue;
    if (!numbers.has(name)) values[name] = value;
    else if (value !== "null") values[name] = decimal(value);
  }
  if (repeated.length > 0) throw new Invalid(repeated);
  return values;
};

/** URLSearchParams takes anything, and would have other text spoken than was meant. */
const isDecodable = (query: string): boolean => {
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
};

const numbers = new Set(["pitch", "rate", "volume"]);
const parameters = ["text", "voice", "lang", "engine", "name", "gender", "format", ...numbers];

/** A plain decimal, or NaN, which the schema refuses: not 0x1, not a blank. */
const decimal = (value: string): number =>
  /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(value) ? Number(value) : Number.NaN;

function normalGender(gender: GenderName): Gender {
  return gender.startsWith("m") ? "male" : "female";
}

const toRequest = ({ pitch, rate, volume, ...rest }: z.output<RequestSchema>): SynthesisRequest => ({
  ...rest,
  prosody: { pitch, rate, volume },
});
