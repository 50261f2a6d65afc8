import { type EncodedFormat, formats } from "../../../domain/synthesis/formats.ts";
import { type CodecLibrary, type CodecOptions, type Encoding, libraryOf } from "./encoding.ts";
import { openLame } from "./lame.ts";
import { openLibav } from "./libav.ts";
import { startLibav } from "./libav-encoding.ts";

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

/**
 * Loads libraries in this process, once each, and returns whether they can be used. The dynamic
 * loader finds a loaded library by its name and does not open its file again: the threads call what
 * is loaded here.
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

/** What keeps the libraries loaded. */
const loaded: Partial<Record<CodecLibrary, unknown>> = {};
