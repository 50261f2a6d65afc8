import {
  openSubprocessHost,
  type SubprocessHost,
  type SubprocessHostOptions,
} from "../../src/subprocess/subprocess-host.ts";

/** A host that encodes with ffmpeg only: to load LAME's library and compare it takes 0.3 s of CPU time. */
export const openToolHost = (options: SubprocessHostOptions = {}): Promise<SubprocessHost> =>
  openSubprocessHost({ encodersAhead: {}, mp3ByLibrary: false, ...options });
