import type { EncodedFormat } from "../../../domain/synthesis/formats.ts";

/** The encoding of one audio by a library, in the thread that calls it. */
export interface Encoding {
  /**
   * Encodes s16le mono samples, of which none may be divided. Returns the bytes that are complete
   * by now, perhaps none.
   */
  encode(pcm: Buffer): Buffer;
  /** Ends the audio, and returns the remaining bytes. */
  finish(): Buffer;
  /** Frees the memory. Call it once, after all other methods. */
  close(): void;
}

/** The libraries that encode: LAME's own, and those of ffmpeg. */
export type CodecLibrary = "lame" | "libav";

/** The location of the libraries. */
export interface CodecOptions {
  /** The version of the program ffmpeg. */
  readonly ffmpegVersion: string;
  /**
   * The folder of the libraries, with a slash at its end. If it is empty, the dynamic loader finds
   * them.
   */
  readonly folder: string;
}

/**
 * The sample rates that LAME encodes without resampling. It would resample in another way than
 * ffmpeg.
 */
const ratesOfLame: ReadonlySet<number> = new Set([
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
]);

export const libraryOf = (format: EncodedFormat, sampleRate: number): CodecLibrary =>
  format === "mp3" && ratesOfLame.has(sampleRate) ? "lame" : "libav";
