import { ffmpegEncoder } from "../../src/audio/formats/ffmpeg-encoder.ts";
import type { EncodedFormat } from "../../src/domain/synthesis/formats.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { collect } from "./collect.ts";

/**
 * Encodes short audio. After the first audio of a format, idle encoders of that format wait for
 * jobs.
 */
export const encodeSilence = async (host: SubprocessHost, format: EncodedFormat): Promise<void> => {
  const samples = async function* () {
    yield Buffer.alloc(4410);
  };
  await collect(ffmpegEncoder(host).encode(format, 22_050, samples(), new AbortController().signal));
};
