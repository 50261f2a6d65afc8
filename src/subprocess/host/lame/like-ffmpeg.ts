import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { errorMessage } from "../../../domain/errors.ts";
import { compileCache } from "../../compile-cache.ts";
import { startDeadlines } from "../../start-deadlines.ts";
import { startFfmpeg } from "../ffmpeg.ts";
import { encodeNoise } from "./encode-noise.ts";
import { type LameLibrary, openLame } from "./library.ts";

/** The encoder of mp3. `fallback`: why it is ffmpeg, in a sentence. */
export type Mp3Encoder =
  | { readonly lame: LameLibrary; readonly fallback?: undefined }
  | { readonly lame?: undefined; readonly fallback: string };

/**
 * The noise as the library encodes it twice in another process, which may crash (see probe.ts); or
 * why there is none.
 */
export type LameProbe = Buffer | { readonly failure: string };

export const probeLame = (libraryName: string): Promise<LameProbe> =>
  new Promise((resolve) => {
    const program = fileURLToPath(new URL("./probe.ts", import.meta.url));
    const args = ["--disable-warning=ExperimentalWarning", program, libraryName];
    const env = { ...process.env, ...compileCache() };
    const timeout = startDeadlines.lameProbeMs;
    const options = { env, encoding: "buffer", timeout, killSignal: "SIGKILL" } as const;
    execFile(process.execPath, args, options, (error, mp3) => {
      if (!error) resolve(mp3);
      else if (error.killed) resolve({ failure: "LAME's library did not encode a sound in time." });
      else if (error.signal) resolve({ failure: `LAME's library crashed (${error.signal}).` });
      else resolve({ failure: "LAME's library cannot be loaded." });
    });
  });

/**
 * LAME's library, if it is installed and gives the bytes of this ffmpeg, which may have been built
 * with another version: the names of audio contain only ffmpeg's. Never rejects.
 */
export const openLameLikeFfmpeg = async (
  libraryName: string,
  probed: Promise<LameProbe>,
): Promise<Mp3Encoder> => {
  try {
    const [ours, theirs] = await Promise.all([probed, encodeNoise(() => startFfmpeg("mp3"))]);
    if ("failure" in ours) return { fallback: ours.failure };
    if (!ours.equals(Buffer.concat([theirs, theirs])))
      return { fallback: "LAME's library gives other bytes than ffmpeg." };
    return { lame: openLame(libraryName) };
  } catch (error) {
    return { fallback: `LAME's library was not compared with ffmpeg: ${errorMessage(error)}` };
  }
};
