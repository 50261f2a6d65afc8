import { type EncodedFormat, formats } from "../../../domain/synthesis/formats.ts";
import type { Encoding } from "./encoding.ts";
import { lameTakes, openLame } from "./lame.ts";
import { openLibav } from "./libav.ts";
import { startLibav } from "./libav-encoding.ts";

export type CodecLibrary = "lame" | "libav";

/** Where the libraries are. */
export interface CodecOptions {
  /** The version of the program ffmpeg. */
  readonly ffmpegVersion: string;
  /** With a slash at its end; empty: where the dynamic loader finds them. */
  readonly folder: string;
}

/** LAME's own library encodes only the format for which it is faster than ffmpeg's libraries. */
export const libraryOf = (format: EncodedFormat, sampleRate: number): CodecLibrary =>
  format === "mp3" && lameTakes(sampleRate) ? "lame" : "libav";

/** The encoders of this thread. A library is loaded when it is first used. */
export const openCodecs = ({ ffmpegVersion, folder }: CodecOptions) => {
  let lame: ReturnType<typeof openLame> | undefined;
  let libav: ReturnType<typeof openLibav> | undefined;
  /** @throws {Error} the library cannot be used */
  return (format: EncodedFormat, sampleRate: number): Encoding => {
    if (libraryOf(format, sampleRate) === "lame") {
      lame ??= openLame(folder);
      return lame(sampleRate);
    }
    libav ??= openLibav(ffmpegVersion, folder);
    return startLibav(libav, formats[format].encoder, sampleRate);
  };
};
