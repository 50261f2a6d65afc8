import { z } from "zod";
import type { LexiconChoice } from "../../../application/lexicons/website-lexicons.ts";
import type { SynthesisRequest } from "../../../application/synthesis/planner.ts";
import { maxLexicons } from "../../../domain/lexicons/lexicons.ts";
import { fixedRateFormats } from "../../../domain/synthesis/fixed-rate-formats.ts";
import type { AudioFormat } from "../../../domain/synthesis/formats.ts";
import { defaultLang, spokenText, textFormat } from "../synthesis/request.ts";
import { engineOfModel } from "./models.ts";
import { type SsmlContent, ssmlContent } from "./ssml-content.ts";

/** ElevenLabs' names of formats. The audio of each is exactly as its name says. */
const outputFormats: ReadonlyMap<string, AudioFormat> = new Map<string, AudioFormat>([
  ...Object.keys(fixedRateFormats).map((name): [string, AudioFormat] => [name, name as AudioFormat]),
  ["opus_48000_32", "opus"],
  ["pcm_24000", "pcm"],
]);

export const outputFormatNames = [...outputFormats.keys()].toSorted();

const dictionaryLocator = z.object({
  pronunciation_dictionary_id: z
    .string()
    .max(64)
    .meta({ description: "The name of a lexicon of the website.", examples: ["abbreviations"] }),
  version_id: z
    .string()
    .max(20)
    .nullish()
    .meta({ description: "Its version; any other one is refused. Default: any.", examples: ["1"] }),
});

/**
 * Unknown members are ignored; so are the settings of ElevenLabs' own models, such as `stability`
 * and `seed`.
 */
export const speechRequest = (maxCharacters: number) =>
  z
    .object({
      text: spokenText(maxCharacters, "text").meta({
        description:
          'Plain text in which `<break time="1.5s" />` is a pause, or SSML if it begins with `<speak`. A `<break>` is limited to 10 seconds, all of a text to 60 seconds.',
      }),
      enable_ssml_parsing: z.boolean().nullish().meta({ description: "As the parameter of the same name." }),
      text_format: textFormat.nullish(),
      model_id: z
        .string()
        .max(200)
        .nullish()
        .meta({
          description:
            "ElevenLabs' models speak with any engine that has the voice. The code of an engine chooses it alone.",
          examples: ["eleven_multilingual_v2"],
        }),
      language_code: z
        .string()
        .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,7}$/, "language_code must be a language code.")
        .nullish()
        .meta({ description: "Chooses among voices of the same name.", examples: ["en"] }),
      voice_settings: z
        .object({
          speed: z
            .number()
            .min(0.5)
            .max(2)
            .nullish()
            .meta({ description: "1 is normal.", examples: [1.1] }),
        })
        .nullish(),
      pronunciation_dictionary_locators: z
        .array(dictionaryLocator)
        .max(maxLexicons)
        .nullish()
        .meta({ description: "The lexicons to apply, in this order. Default: all of the website." }),
    })
    .meta({ id: "ElevenLabsSpeechRequest" });

export type SpeechRequest = z.output<ReturnType<typeof speechRequest>>;

export const speechQuery = z.object({
  output_format: z
    .enum(outputFormatNames, {
      error: `output_format must be one of ${outputFormatNames.join(", ")}.`,
    })
    .optional()
    .meta({
      description:
        "Codec, sample rate and, for mp3 and opus, kbit/s. The audio is exactly as named. Default: mp3 of 64 kbit/s at the voice's own sample rate, as in `/v2`.",
      examples: ["mp3_44100_128"],
    }),
  enable_ssml_parsing: z
    .enum(["true", "false"], { error: "enable_ssml_parsing must be true or false." })
    .optional()
    .meta({
      description: "True: all elements of SSML in the text are read as such, without `<speak>` around it.",
      examples: ["true"],
    }),
});

/**
 * Finds the SSML in the text, unless the request names a text format. `isAsked`: the client asks
 * for SSML.
 */
export const contentOf = (
  { enable_ssml_parsing: query }: z.output<typeof speechQuery>,
  { text, text_format, enable_ssml_parsing: body }: SpeechRequest,
): { readonly content: SsmlContent | undefined; readonly isAsked: boolean } => {
  const isAsked = query === undefined ? (body ?? false) : query === "true";
  return { content: text_format ? undefined : ssmlContent(text, isAsked), isAsked };
};

/**
 * The request in the service's own terms.
 * @throws {NotFound} for an unknown model
 */
export const toSynthesisRequest = (
  voiceName: string,
  { output_format }: z.output<typeof speechQuery>,
  {
    text,
    text_format,
    model_id,
    language_code,
    voice_settings,
    pronunciation_dictionary_locators: locators,
  }: SpeechRequest,
): SynthesisRequest => ({
  text,
  textFormat: text_format ?? undefined,
  name: voiceName,
  lang: language_code ?? defaultLang,
  engine: engineOfModel(model_id),
  prosody: { pitch: 1, rate: voice_settings?.speed ?? 1, volume: 1 },
  // A request that names no format gets the default format of `/v2`, and shares its audio.
  format: outputFormats.get(output_format ?? "") ?? "mp3",
  anyFormat: true,
  ...(locators && locators.length > 0 && { lexicons: locators.map(toLexiconChoice) }),
});

const toLexiconChoice = ({
  pronunciation_dictionary_id: name,
  version_id: version,
}: z.output<typeof dictionaryLocator>): LexiconChoice => ({ name, version: version ?? undefined });
