import { type EncodedFormat, formats } from "../../../domain/synthesis/formats.ts";
import { type CodecLibrary, type CodecOptions, type Encoding, libraryOf } from "./encoding.ts";
import { openLame } from "./lame.ts";
import { openLibav } from "./libav.ts";
import { startLibav } from "./libav-encoding.ts";

/**
 * Returns a function that opens encoders in this thread. It loads a library when it first needs it.
 */
export const openCodecs = ({ ffmpegVersion, folder }: CodecOptions) => {
  let lame: ReturnType<typeof openLame> | undefined;
  let libav: ReturnType<typeof openLibav> | undefined;
  /** @throws {Error} if the library cannot be used */
  return (format: EncodedFormat, sampleRate: number): Encoding => {
    if (libraryOf(format, sampleRate) === "lame") {
      lame ??= openLame(folder);
      return lame(sampleRate);
    }
    libav ??= openLibav(ffmpegVersion, folder);
    return startLibav(libav, formats[format].encoder, sampleRate);
  };
};

/**
 * Returns a function that loads a library in this process, once, and returns whether the library
 * can be used. The dynamic loader finds a loaded library by its name and does not open its file
 * again, so that threads call the library that is loaded here.
 */
export const createLibraryLoader = ({ ffmpegVersion, folder }: CodecOptions) => {
  const loaders = { lame: () => openLame(folder), libav: () => openLibav(ffmpegVersion, folder) };
  return (library: CodecLibrary): boolean => {
    try {
      loaded[library] ??= loaders[library]();
      return true;
    } catch {
      return false;
    }
  };
};

/** The references that keep the libraries loaded. */
const loaded: Partial<Record<CodecLibrary, unknown>> = {};
