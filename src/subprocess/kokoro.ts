import type { PronouncedWords } from "../domain/text/pronounced-text.ts";

/** The argument of a process of Kokoro. */
export interface KokoroStart {
  /** The folder contains the model, the voices and the data of the English front end. */
  readonly folder: string;
}

/** One text for Kokoro. */
export interface KokoroRequest {
  readonly text: string;
  /** Words of the text whose pronunciation is given. */
  readonly pronounced?: readonly PronouncedWords[];
  /** The name of the voice's file. */
  readonly voice: string;
  /** The reader of the text. */
  readonly reader: KokoroReader;
  /** The speed of the speech: 2 is twice as fast. */
  readonly speed: number;
  /** The factor for the frequency of the voice. */
  readonly pitch: number;
  /** The factor for all samples except peaks. */
  readonly gain: number;
}

/** The English front end, by its accent; or a voice of espeak-ng, for its phonemes. */
export type KokoroReader = { readonly accent: "us" | "gb" } | { readonly espeak: string };
