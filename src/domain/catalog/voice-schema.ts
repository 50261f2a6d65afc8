import { z } from "zod";
import { engineCodes } from "../synthesis/speech.ts";
import { voiceName } from "../synthesis/voice-name.ts";

/** Schemas of voices from operators and providers. Their output types are those of speech.ts. */

export const languageTag = z.string().max(35).refine(isLanguageTag, "Expected a BCP-47 language code.");

/** ISO 3166-1 alpha-2 in lower case; `xx` for no country at all. */
const flag = z.string().regex(/^[a-z]{2}$/, "Expected a country code of two lower-case letters.");

const gender = z.enum(["f", "m"]);
const id = z.int().positive();

export const voice = z.strictObject({
  name: voiceName,
  flag,
  gender,
  lang: languageTag,
  voiceIDs: z
    .array(id)
    .min(1)
    .max(20)
    .refine((ids) => new Set(ids).size === ids.length, "An id is listed twice."),
  deprecated: z.boolean().exactOptional(),
  isByok: z.boolean().exactOptional(),
  provider: z.string().min(1).max(50).exactOptional(),
});

/** The members of a voice that may change: all but its name. */
export const voiceChange = voice
  .omit({ name: true })
  .partial()
  .refine((change) => Object.keys(change).length > 0, "Expected at least one member to change.")
  .meta({ minProperties: 1 });

/** pitch, rate and volume are factors on the request's prosody. */
export const systemVoice = z.strictObject({
  id,
  name: voiceName,
  lang: languageTag.exactOptional(),
  rate: z.number().min(0).max(2).exactOptional(),
  pitch: z.number().min(0).max(2).exactOptional(),
  volume: z.number().min(0).max(1).exactOptional(),
  timerSpeed: z.number().min(0).max(10).exactOptional(),
  fallbackVoice: z.boolean().exactOptional(),
  service: z.enum(engineCodes).exactOptional(),
  voiceName: z
    .string()
    .min(1)
    .max(200)
    .regex(/^\P{C}+$/u)
    .exactOptional(),
  gender: gender.exactOptional(),
  deprecated: z.boolean().exactOptional(),
});

function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
