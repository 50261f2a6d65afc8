import type { PronouncedWords } from "../domain/text/pronounced-text.ts";

/** The argument of a process for a voice of hibari. */
export interface HibariStart {
  /** The path of the model. */
  readonly model: string;
  /** The folder that also has the data of the front end. */
  readonly folder: string;
  readonly isBritish: boolean;
}

/** One text for a voice of hibari; an empty one only loads the model. */
export interface HibariRequest {
  readonly text: string;
  /** Words of the text whose pronunciation is given. */
  readonly pronounced?: readonly PronouncedWords[];
  /** The speed of the speech: 2 is twice as fast. */
  readonly speed: number;
  /** The factor for the frequency of the voice. */
  readonly pitch: number;
}
