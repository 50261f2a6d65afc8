import { z } from "zod";
import type { SynthesisRequest } from "../../../application/synthesis/planner.ts";
import { NotFound } from "../../../domain/errors.ts";
import { countCharacters } from "../../../domain/synthesis/count-characters.ts";
import { audioFormats, v2Formats } from "../../../domain/synthesis/formats.ts";
import {
  type EngineCode,
  engineCodes,
  type Gender,
  type GenderName,
  genderNames,
  textFormats,
} from "../../../domain/synthesis/speech.ts";
import { parse } from "../../../domain/validation.ts";
import { numbers, queryValues } from "../query-values.ts";
import { TTSService } from "../voices/schemas.ts";

const AudioFormat = z.enum(v2Formats).meta({ id: "AudioFormat" });
const VoiceGender = z.enum(genderNames).transform(normalGender).meta({ id: "VoiceGender" });

/** The text to speak, in a request that calls it `member`. */
export const spokenText = (maxCharacters: number, member: string) =>
  z
    .string({
      error: ({ input }) => `${member} ${input === undefined ? "is required" : "must be a string"}.`,
    })
    .refine((text) => text.trim() !== "", `${member} is blank.`)
    .refine((text) => text.isWellFormed(), `${member} contains a lone surrogate.`)
    .refine(
      (text) => countCharacters(text) <= maxCharacters,
      `${member} is longer than ${maxCharacters} characters.`,
    )
    .meta({
      description:
        "Plain text, or SSML if it begins with `<speak`. A `<break>` is limited to 10 seconds, all of a text to 60 seconds.",
      minLength: 1,
      maxLength: maxCharacters,
      examples: ["The train to Oxford leaves at nine."],
    });

/** The formats in which a text is read, in every API. */
export const textFormat = z
  .enum(textFormats, { error: `text_format must be one of ${textFormats.join(", ")}.` })
  .meta({
    description:
      "`plain` is never parsed, `ssml` must be SSML, `markdown` is read without its markup. The default is SSML if the text begins with `<speak`, else plain.",
    examples: ["markdown"],
  });

/**
 * The language of requests through compatible APIs. It matters only for voices that speak any
 * language; the catalog shows the same language for these voices.
 */
export const defaultLang = "en-US";

/**
 * The engine that a compatible API's model names. `others`: the other models, for the error.
 * @throws {NotFound}
 */
export const engineNamed = (model: string, others: string): EngineCode => {
  const engine = engineCodes.find((code) => code === model);
  if (engine) return engine;
  const shown = JSON.stringify(model.slice(0, 100));
  throw new NotFound(`There is no model ${shown}: ask for ${others} or an engine.`, "model");
};

/** These members choose the voice. */
export const voiceMembers = {
  voice: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({
      description: "A voice by its friendly name; it determines the engine and the language.",
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
    description: "Only this engine. The default is g1, then the other free engines.",
    examples: ["g1"],
  }),
  name: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({
      description:
        "A system voice by its name or its `voiceName`, or a voice by its friendly name. Exact matches take " +
        "precedence over matches that ignore case. With `engine`, only voices of that engine. Prefer `voice`.",
      examples: ["espeak:gmw/en+f3"],
    }),
  gender: VoiceGender.optional().meta({
    description: "The preferred gender if no voice is named.",
    examples: ["female"],
  }),
};

export const prosodyMembers = {
  pitch: z.number().min(0).max(2).default(1).meta({ description: "1 is normal." }),
  rate: z.number().min(0).max(2).default(1).meta({ description: "1 is normal." }),
  volume: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .meta({ description: "0 is silence: the response is 204 without audio." }),
};

export const format = AudioFormat.optional().meta({
  description: "A format of the engine. The default is the engine's.",
  examples: ["mp3"],
});

const anyFormat = z
  .enum(audioFormats)
  .optional()
  .meta({ description: "A format of any API. The default is the engine's.", examples: ["wav"] });

const audible = z
  .number()
  .gt(0, { error: "At volume 0 there is no audio." })
  .max(1)
  .default(1)
  .meta({ description: "Above 0: at volume 0 there is no audio." });

/** The schema of the body and of the query. */
export const synthesizeRequest = (maxCharacters: number) =>
  requestWith(maxCharacters, { format }, "SynthesizeRequest");

/** A schema that also allows the formats that only compatible APIs offer. */
export const requestInAnyFormat = (maxCharacters: number) =>
  requestWith(maxCharacters, { format: anyFormat, volume: audible }, "AudioNameRequest");

const requestWith = <Format extends z.ZodOptional>(
  maxCharacters: number,
  { format, volume = prosodyMembers.volume }: { format: Format; volume?: typeof prosodyMembers.volume },
  id: string,
) =>
  z
    .object({
      text: spokenText(maxCharacters, "text"),
      text_format: textFormat.optional(),
      ...{ ...voiceMembers, ...prosodyMembers, volume, format },
    })
    .refine(({ voice, lang }) => voice !== undefined || lang !== undefined, {
      error: "Either voice or lang is required.",
      path: ["lang"],
    })
    .meta({ id, anyOf: [{ required: ["voice"] }, { required: ["lang"] }] });

export type RequestSchema = ReturnType<typeof synthesizeRequest>;
type AnyFormatSchema = ReturnType<typeof requestInAnyFormat>;

/** @throws {Invalid} */
export const requestFromBody = (schema: RequestSchema | AnyFormatSchema, body: unknown): SynthesisRequest =>
  toRequest(parse(schema, body));

export const streamed = z.object({
  stream: z.boolean().optional().meta({
    description: "Stream the audio as server-sent events. Only premium engines.",
  }),
});

const detailed = z.enum(["phoneme"]).optional().meta({
  description:
    "Return the marks of the audio instead of the audio, with phonemes and visemes where the voice reports them. They are stored nowhere: the voice speaks again.",
});

/** The setting `marks`, which the body or the query may have. */
export const marked = z.object({ marks: detailed });

/**
 * True if the query requests marks.
 * @throws {Invalid}
 */
export const marksInQuery = (query: string): boolean =>
  parse(marked, queryValues(query, ["marks"])).marks !== undefined;

/**
 * True if the body requests a stream of events, as the links of voices show.
 * @throws {Invalid}
 */
export const streamRequested = (body: unknown): boolean => parse(streamed, body).stream === true;

/** The query's parameters in the OpenAPI document: pitch, rate and volume may also be `null`. */
export const nullableInQuery = ({ shape }: z.ZodObject): z.ZodObject => {
  const nullable = (name: string) => {
    const number = shape[name] as z.ZodDefault<z.ZodNumber>;
    return number
      .unwrap()
      .nullable()
      .optional()
      .meta({ description: number.description, default: number.parse(undefined) });
  };
  return z.object({ ...shape, ...Object.fromEntries([...numbers].map((name) => [name, nullable(name)])) });
};

/**
 * Empty parameters and `pitch=null` count as absent; unknown parameters are ignored.
 * @throws {Invalid} if a parameter is invalid or given twice
 */
export const requestFromQuery = (schema: RequestSchema, query: string): SynthesisRequest =>
  toRequest(parse(schema, queryValues(query, parameters)));

const parameters = ["text", "text_format", "voice", "lang", "engine", "name", "gender", "format", ...numbers];

function normalGender(gender: GenderName): Gender {
  return gender.startsWith("m") ? "male" : "female";
}

const toRequest = ({
  text_format: textFormat,
  pitch,
  rate,
  volume,
  ...rest
}: z.output<RequestSchema | AnyFormatSchema>): SynthesisRequest => ({
  ...rest,
  ...(textFormat && { textFormat }),
  prosody: { pitch, rate, volume },
});
