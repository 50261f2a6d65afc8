import { z } from "zod";
import { EngineFailed } from "../../domain/errors.ts";
import { type ProsodyParameter, prosodyParameters } from "../../domain/synthesis/speech.ts";
import type { ProviderVoice } from "../provider.ts";
import { type Exchange, endpoint } from "../provider-http/exchange.ts";
import { errorFrom, invalidResponse, readJson } from "../provider-http/responses.ts";
import type { GoogleAuth } from "./auth.ts";

export interface GoogleClient {
  readonly exchange: Exchange;
  readonly url: string;
  readonly signIn: GoogleAuth;
}

/**
 * Language, region, family, name: `en-US-Neural2-C`. Google also lists bare names (`Achernar`),
 * which need a Gemini model and another API.
 */
const pattern = /^([a-z]{2,3}-[A-Za-z0-9]{2,4})-[A-Za-z0-9][A-Za-z0-9-]{0,80}$/;

/** @throws {EngineFailed} if it is not the name of a Google voice */
export const languageOf = (voice: string): string => {
  const [, language] = pattern.exec(voice) ?? [];
  if (language === undefined) throw new EngineFailed("Google has no voice of this name.");
  return language;
};

/** Families that respond with 400 to parameters they lack, or to SSML. */
const takesText = /-(?:Chirp-HD|Journey)-/;
const takesNoPitch = /-(?:Chirp3-HD|Studio)-/;

export const takesSsml = (voice: string): boolean => pattern.test(voice) && !takesText.test(voice);

export const prosodyParametersOf = (voice: string): readonly ProsodyParameter[] => {
  if (!pattern.test(voice)) return [];
  if (takesText.test(voice)) return ["volume"];
  return takesNoPitch.test(voice) ? ["rate", "volume"] : prosodyParameters;
};

const listShape = z.object({ voices: z.array(z.unknown()).default([]) });
const voiceShape = z.object({
  name: z.string().regex(pattern),
  languageCodes: z.tuple([z.string().min(2).max(35)], z.string()),
  ssmlGender: z.string().optional(),
});
const maxBytes = 8 * 1024 * 1024;

/** Skips entries of an unknown shape. Voices without a gender count as female. */
export const listVoices = async (
  { exchange, url, signIn }: GoogleClient,
  signal: AbortSignal,
): Promise<readonly ProviderVoice[]> => {
  const headers = await signIn.headers(signal);
  const response = await exchange({ method: "GET", url: endpoint(url, "/v1/voices"), headers }, signal);
  if (response.status !== 200) throw await errorFrom(response, { hidden: signIn.secrets });
  const list = listShape.safeParse(await readJson(response, maxBytes));
  if (!list.success) throw invalidResponse("it contains no list of voices");
  return list.data.voices.flatMap((one): ProviderVoice[] => {
    const voice = voiceShape.safeParse(one);
    if (!voice.success) return [];
    const { name, languageCodes, ssmlGender } = voice.data;
    return [{ name, lang: languageCodes[0], gender: ssmlGender === "MALE" ? "m" : "f" }];
  });
};
