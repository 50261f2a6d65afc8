import type { SynthesisRequest } from "../application/synthesis/planner.ts";
import type { WebsiteConfig } from "../domain/accounts/website-config.ts";
import type { RequestedVoice } from "./events.ts";

/** How an utterance is spoken: the request of each of its pieces, without the text. */
export type Manner = Omit<SynthesisRequest, "text">;

/**
 * The protocol has neither pitch, rate nor volume, and Home Assistant names no voice unless its user has chosen one. What it
 * leaves open is taken from the website's configuration.
 */
export const mannerOf = (requested: RequestedVoice, { voice }: WebsiteConfig): Manner => {
  const { pitch, rate, volume } = voice;
  const chosen = requested?.name
    ? { voice: requested.name }
    : requested?.language
      ? { lang: requested.language }
      : { voice: voice.name };
  return { ...chosen, prosody: { pitch, rate, volume }, format: "pcm", anyFormat: true };
};
