/** What a process of Kokoro is started with. */
export interface KokoroStart {
  /** The folder contains the model, the voices and the data of the English front end. */
  readonly folder: string;
}

/** One text for Kokoro. */
export interface KokoroOrder {
  readonly text: string;
  /** The voice's file. */
  readonly voice: string;
  /** Who reads the text. */
  readonly reader: KokoroReader;
  /** 2 is twice as fast. */
  readonly speed: number;
}

/** The English front end, by its accent; or a voice of espeak-ng, for its phonemes. */
export type KokoroReader = { readonly accent: "us" | "gb" } | { readonly espeak: string };
