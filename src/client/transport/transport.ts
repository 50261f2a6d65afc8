import type { OpenedAudio, SynthesisQuery } from "../api/synthesis.ts";
import type { Prosody } from "../prosody.ts";
import type { TextPart } from "../text-parts.ts";
import { sentText } from "./markup.ts";

/**
 * The ways in which audio is loaded. `stream` and `websocket` download voices that the service does
 * not stream.
 */
export const transportModes = ["chunks", "stream", "websocket"] as const;
export type TransportMode = (typeof transportModes)[number];

/**
 * The voice to speak with. `voice` takes precedence over `lang`; one of them is set, unless the
 * service could not be asked for the website's voice.
 */
export interface VoiceRequest {
  readonly voice: string | undefined;
  readonly lang: string | undefined;
  readonly prosody: Prosody;
  /** The language of the text, in which a browser's voice can speak it; undefined if unknown. */
  readonly textLang?: string | undefined;
  /** The voice for a language that the service does not have. */
  readonly otherwise?: VoiceRequest | undefined;
  /** The longest silence before this part. A longer `Retry-After` is not waited for. */
  readonly maxWaitMs?: number | undefined;
}

/** A part of a text, and the voice that speaks it. */
export interface SpokenPart {
  readonly part: TextPart;
  readonly voice: VoiceRequest;
}

/** The audio of one part of a text. */
export interface Delivery extends Omit<OpenedAudio, "received"> {
  readonly part: TextPart;
}

/**
 * Requests the audio of a part. Aborting the signal also ends a running stream.
 * @throws {VoxledgerError}
 */
export type Transport = (part: TextPart, voice: VoiceRequest, signal: AbortSignal) => Promise<OpenedAudio>;

/** Omits default values, so that equal requests have equal URLs and HTTP caches can serve them. */
export const synthesisQuery = (part: TextPart, { voice, lang, prosody }: VoiceRequest): SynthesisQuery => ({
  text: sentText(part).text,
  ...(voice === undefined ? { lang } : { voice }),
  pitch: unlessDefault(prosody.pitch),
  rate: unlessDefault(prosody.rate),
  volume: unlessDefault(prosody.volume),
});

const unlessDefault = (value: number): number | undefined => (value === 1 ? undefined : value);
