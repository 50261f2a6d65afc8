import type { EncodedFormat } from "../../../domain/synthesis/formats.ts";

/** The encoding of one audio by a library, in the thread that calls it. */
export interface Encoding {
  /** Returns what is complete of s16le mono samples, or nothing. Whole samples only. */
  encode(pcm: Buffer): Buffer;
  /** Returns the rest. */
  finish(): Buffer;
  /** Frees its memory; to be called once, last. */
  close(): void;
}

/** LAME's own, and those of ffmpeg. */
export type CodecLibrary = "lame" | "libav";

/** Where the libraries are. */
export interface CodecOptions {
  /** The version of the program ffmpeg. */
  readonly ffmpegVersion: string;
  /** With a slash at its end; empty: where the dynamic loader finds them. */
  readonly folder: string;
}

/** Others would be resampled, which LAME does not do as ffmpeg does. */
const ratesOfLame: ReadonlySet<number> = new Set([
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
]);

export const libraryOf = (format: EncodedFormat, sampleRate: number): CodecLibrary =>
  format === "mp3" && ratesOfLame.has(sampleRate) ? "lame" : "libav";
