import { z } from "zod";
import { type ProsodyParameter, prosodyParameters } from "../../domain/synthesis/speech.ts";
import type { ProviderVoice } from "../provider.ts";
import { type Exchange, endpoint } from "../provider-http/exchange.ts";
import { errorFrom, invalidResponse, readJson } from "../provider-http/responses.ts";

export interface AzureClient {
  readonly exchange: Exchange;
  readonly url: string;
  readonly subscriptionKey: string;
}

/** Azure refuses requests without a User-Agent. */
export const authHeaders = ({ subscriptionKey }: AzureClient) => ({
  "Ocp-Apim-Subscription-Key": subscriptionKey,
  "User-Agent": "voxledger",
});

/**
 * `en-US-JennyNeural`, `sr-Latn-RS-NicholasNeural`, `zh-CN-liaoning-XiaobeiNeural`,
 * `en-US-Ava:DragonHDLatestNeural`.
 */
const pattern = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,20}){1,3}-[A-Za-z0-9]{2,60}(?::[A-Za-z0-9.-]{2,60})?$/;

export const isVoice = (voice: string): boolean => pattern.test(voice);

/** Azure does not define prosody for voices with a colon in their name (HD): none is sent. */
export const prosodyParametersOf = (voice: string): readonly ProsodyParameter[] =>
  isVoice(voice) && !voice.includes(":") ? prosodyParameters : [];

/** Azure documents `<phoneme>` for all voices but those with a colon in their name (HD). */
export const takesPhonemes = (voice: string): boolean => isVoice(voice) && !voice.includes(":");

const voiceShape = z.object({
  ShortName: z.string().regex(pattern),
  Locale: z.string().min(2).max(35),
  Gender: z.string().optional(),
  Status: z.string().optional(),
});
const maxBytes = 8 * 1024 * 1024;

/**
 * Skips entries of an unknown shape and deprecated voices. Voices without a gender count as female.
 */
export const listVoices = async (
  wire: AzureClient,
  signal: AbortSignal,
): Promise<readonly ProviderVoice[]> => {
  const url = endpoint(wire.url, "/cognitiveservices/voices/list");
  const response = await wire.exchange({ method: "GET", url, headers: authHeaders(wire) }, signal);
  if (response.status !== 200) throw await errorFrom(response, { hidden: [wire.subscriptionKey] });
  const list = z.array(z.unknown()).safeParse(await readJson(response, maxBytes));
  if (!list.success) throw invalidResponse("it contains no list of voices");
  return list.data.flatMap((one): ProviderVoice[] => {
    const voice = voiceShape.safeParse(one);
    if (!voice.success || voice.data.Status === "Deprecated") return [];
    const { ShortName: name, Locale: lang, Gender } = voice.data;
    return [{ name, lang, gender: Gender === "Male" ? "m" : "f" }];
  });
};
