import type { DecoderSpec } from "../protocol.ts";
import type { ToolProcess } from "./exit-failure.ts";
import { startLimited } from "./tool-process.ts";

/** ffmpeg needs 260 to 400 MB of address space for its libraries. */
const limits = { cpuSeconds: 60, memoryBytes: 512 * 1024 * 1024, fileBytes: 0 };

/**
 * Decodes untrusted audio with ffmpeg. It reads only its standard input, and only as the container
 * that was recognised. No other demuxer and no protocol is allowed, so that it opens no file and no
 * address that the audio names. It writes the first samples when the first packets have arrived.
 */
export const startDecoder = ({ container, lowPriority }: DecoderSpec): ToolProcess =>
  startLimited(
    "ffmpeg",
    [
      ...["-hide_banner", "-nostdin", "-loglevel", "error"],
      ...["-protocol_whitelist", "pipe", "-format_whitelist", container, "-f", container],
      ...[
        "-max_alloc",
        String(64 * 1024 * 1024),
        "-threads",
        "1",
        "-probesize",
        "32",
        "-analyzeduration",
        "0",
      ],
      ...["-i", "pipe:0", "-map", "0:a:0", "-map_metadata", "-1"],
      ...[
        "-threads",
        "1",
        "-ac",
        "1",
        "-c:a",
        "pcm_s16le",
        "-fflags",
        "+bitexact",
        "-flush_packets",
        "1",
        "-f",
        "wav",
        "pipe:1",
      ],
    ],
    { limits, output: "pipe", lowPriority },
  );
