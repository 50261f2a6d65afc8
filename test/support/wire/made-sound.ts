import { execFile } from "node:child_process";
import { wavHeader } from "../../../src/domain/synthesis/wav-header.ts";
import { sayLocally } from "../local-voice.ts";

/** Audio in a provider's format. */
export interface SoundFormat {
  /**
   * `wav`: with true sizes; `streamed wav`: with 0xFFFFFFFF for both; `pcm`: s16le without a
   * header.
   */
  readonly kind: "mp3" | "opus" | "wav" | "streamed wav" | "pcm" | "aac" | "flac";
  readonly sampleRate: number;
  readonly kbitPerSecond?: number;
}

export interface Wanted {
  readonly text: string;
  /** espeak-ng's, e.g. `gmw/en-US+f3`. */
  readonly voice: string;
  /** Factors; 1 is normal. */
  readonly pitch?: number;
  readonly rate?: number;
  readonly volume?: number;
  readonly format: SoundFormat;
}

const made = new Map<string, Promise<Buffer>>();

/**
 * Real speech, the same bytes each time; empty when there is nothing to pronounce. Cached in
 * memory.
 */
export const makeSound = (wanted: Wanted): Promise<Buffer> => {
  const key = JSON.stringify(wanted);
  const sound = made.get(key) ?? synthesize(wanted);
  made.set(key, sound);
  return sound;
};

const synthesize = async ({ text, voice, pitch = 1, rate = 1, volume = 1, format }: Wanted) => {
  const { samples, sampleRate } = await sayLocally(`espeak:${voice}`, text);
  if (samples.length === 0) return Buffer.alloc(0);
  // Pitch is changed by resampling, and the duration is corrected afterwards.
  const filters = [
    `asetrate=${Math.round(sampleRate * pitch)}`,
    `aresample=${format.sampleRate}`,
    ...tempo(rate / pitch),
    `volume=${volume}`,
  ].join(",");
  const input = Buffer.concat([wavHeader(sampleRate, samples.byteLength), Buffer.from(samples.buffer)]);
  const output = await encode(input, ["-af", filters, ...codec(format)]);
  return format.kind === "wav"
    ? Buffer.concat([wavHeader(format.sampleRate, output.length), output])
    : output;
};

/** `atempo` accepts 0.5 and more, and moves samples by a few milliseconds also at 1. */
const tempo = (factor: number): string[] => {
  if (factor === 1) return [];
  return factor < 0.5 ? ["atempo=0.5", ...tempo(factor / 0.5)] : [`atempo=${factor}`];
};

const codec = ({ kind, kbitPerSecond }: SoundFormat): string[] => {
  const bitrate = kbitPerSecond === undefined ? [] : ["-b:a", `${kbitPerSecond}k`];
  switch (kind) {
    case "mp3":
      return ["-c:a", "libmp3lame", ...bitrate, "-write_xing", "0", "-id3v2_version", "0", "-f", "mp3"];
    case "opus":
      return ["-c:a", "libopus", ...bitrate, "-f", "ogg"];
    case "aac":
      return ["-c:a", "aac", "-f", "adts"];
    case "flac":
      return ["-c:a", "flac", "-f", "flac"];
    case "streamed wav":
      return ["-c:a", "pcm_s16le", "-f", "wav"]; // ffmpeg cannot know the sizes when it writes to a pipe: 0xFFFFFFFF.
    case "wav":
    case "pcm":
      return ["-c:a", "pcm_s16le", "-f", "s16le"];
  }
};

const encode = (input: Buffer, args: readonly string[]): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const exact = ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact", "-ac", "1"];
    const quiet = ["-nostdin", "-hide_banner", "-loglevel", "error", "-f", "wav", "-i", "pipe:0"];
    const child = execFile(
      "ffmpeg",
      [...quiet, ...exact, ...args, "pipe:1"],
      { encoding: "buffer", timeout: 240_000, killSignal: "SIGKILL", maxBuffer: 64 << 20 },
      (error, stdout, stderr) =>
        error ? reject(new Error(`ffmpeg: ${stderr}`, { cause: error })) : resolve(stdout),
    );
    child.stdin?.on("error", reject).end(input);
  });
