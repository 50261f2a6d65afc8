import type { Knob, Prosody } from "../prosody.ts";
import type { TextPart } from "../text-parts.ts";

/** How audio is loaded. `stream` and `websocket` download voices that the service does not stream. */
export const transportModes = ["chunks", "stream", "websocket"] as const;
export type TransportMode = (typeof transportModes)[number];

/** The voice to speak with. `voice` takes precedence over `lang`; one of them is set. */
export interface VoiceRequest {
  readonly voice: string | undefined;
  readonly lang: string | undefined;
  readonly prosody: Prosody;
}

/** The audio of one part: no chunk for silence, one chunk for a download, several for a stream. */
export interface Delivery {
  readonly part: TextPart;
  readonly contentType: string;
  readonly prosodyApplied: readonly Knob[];
  /** Whether all of it has been received; always true for silence. */
  readonly whole: boolean;
  /** Can be read once. Rejects with a VoxledgerError if the stream breaks: the chunks until then are incomplete audio. */
  readonly audio: AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Loads the marks of the audio, as the service keeps them. Absent if there are none. @throws {Error} */
  readonly loadMarks?: ((signal: AbortSignal) => Promise<string>) | undefined;
}

/** The audio of a part, whose first chunk has been received. */
export interface OpenedAudio extends Omit<Delivery, "part"> {
  /** Resolves when all of it has been received. */
  readonly received: Promise<void>;
}

/** Requests the audio of a part. Aborting the signal also ends a running stream. @throws {VoxledgerError} */
export type Transport = (part: TextPart, voice: VoiceRequest, signal: AbortSignal) => Promise<OpenedAudio>;

/** The parameters of a synthesis request. */
export interface SynthesisQuery {
  readonly text: string;
  readonly voice?: string | undefined;
  readonly lang?: string | undefined;
  readonly pitch?: number | undefined;
  readonly rate?: number | undefined;
  readonly volume?: number | undefined;
}

/** Omits default values, so that equal requests have equal URLs and HTTP caches can answer them. */
export const synthesisQuery = (
  { text }: TextPart,
  { voice, lang, prosody }: VoiceRequest,
): SynthesisQuery => ({
  text,
  ...(voice === undefined ? { lang } : { voice }),
  pitch: unlessDefault(prosody.pitch),
  rate: unlessDefault(prosody.rate),
  volume: unlessDefault(prosody.volume),
});

const unlessDefault = (value: number): number | undefined => (value === 1 ? undefined : value);
