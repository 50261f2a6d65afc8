import type { Knob, Prosody } from "../prosody.ts";
import type { TextPart } from "../text-parts.ts";

/** Voices that the service does not stream are downloaded in chunks by the other two modes as well. */
export const transportModes = ["chunks", "stream", "websocket"] as const;
export type TransportMode = (typeof transportModes)[number];

/** What is to be spoken. `voice` wins over `lang`; one of them is there. */
export interface VoiceRequest {
  readonly voice: string | undefined;
  readonly lang: string | undefined;
  readonly prosody: Prosody;
}

/** The audio of one part, whole in one piece or as it comes; no piece at all for silence. */
export interface Delivery {
  readonly part: TextPart;
  readonly contentType: string;
  readonly prosodyApplied: readonly Knob[];
  /** Whether all of it is here. */
  readonly whole: boolean;
  /** To be read once. Rejects with a VoxledgerError when it breaks off: what came until then is no whole sound. */
  readonly audio: AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** How the audio of fallback voices comes here. */
export interface Transport {
  /**
   * Delivers the parts in their order, each as soon as it can be played. Leaving the iteration, or raising the signal,
   * ends whatever is still under way.
   * @throws {VoxledgerError}
   */
  deliver(parts: readonly TextPart[], wanted: VoiceRequest, signal: AbortSignal): AsyncIterable<Delivery>;
}

/** What is asked of the service to speak; knobs that are normal are left out. */
export interface SynthesisQuery {
  readonly text: string;
  readonly voice?: string | undefined;
  readonly lang?: string | undefined;
  readonly pitch?: number | undefined;
  readonly rate?: number | undefined;
  readonly volume?: number | undefined;
}

/** The same speech is always asked for in the same words, so that caches know it again. */
export const synthesisQuery = (
  { text }: TextPart,
  { voice, lang, prosody }: VoiceRequest,
): SynthesisQuery => ({
  text,
  ...(voice === undefined ? { lang } : { voice }),
  pitch: unlessNormal(prosody.pitch),
  rate: unlessNormal(prosody.rate),
  volume: unlessNormal(prosody.volume),
});

const unlessNormal = (knob: number): number | undefined => (knob === 1 ? undefined : knob);
