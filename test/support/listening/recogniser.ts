import { openPython } from "../python.ts";

/** What the recogniser hears in a file. */
export interface Heard {
  readonly heard: string;
  /** True if these are the expected words. */
  readonly right: boolean;
  /** Substituted, missing and additional words. */
  readonly errors: number;
  /** The number of expected words. */
  readonly words: number;
  /** DNSMOS P.808: predicts listeners' opinion from 1 to 5. */
  readonly naturalness: number;
}

/**
 * Whisper tiny.en: understands English only, and makes errors on good speech too. The same audio
 * always gives the same text.
 */
export interface Recogniser {
  listen(file: string, words: string): Promise<Heard>;
  /**
   * True if both are the same words: "It's $5.50." and "it is five dollars and fifty cents" are.
   */
  same(pairs: readonly (readonly [string, string])[]): Promise<boolean[]>;
  close(): Promise<void>;
}

export const openRecogniser = (): Recogniser => {
  const python = openPython(`${import.meta.dirname}/recogniser.py`, "recogniser");
  return {
    listen: (file, words) => python.ask({ file, words }),
    same: (pairs) => python.ask({ same: pairs }),
    close: python.close,
  };
};
