/** The encoding of one audio by a library, in the thread that calls it. */
export interface Encoding {
  /** Returns what is complete of s16le mono samples, or nothing. Whole samples only. */
  encode(pcm: Buffer): Buffer;
  /** Returns the rest. */
  finish(): Buffer;
  /** Frees its memory; to be called once, last. */
  close(): void;
}
