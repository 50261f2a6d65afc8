import { execFile } from "node:child_process";
import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface Conversion {
  /** Arguments that name the input. */
  readonly from: readonly string[];
  /** Arguments that name the output. */
  readonly to: readonly string[];
}

/**
 * Runs all conversions in one process of ffmpeg: the start of a process takes longer than the
 * conversion of a short audio.
 */
export const convertAll = async (conversions: readonly Conversion[]): Promise<void> => {
  const inputs = conversions.flatMap(({ from }) => from);
  const outputs = conversions.flatMap(({ to }, index) => ["-map", `${index}:a`, ...to]);
  const options = { timeout: 240_000, killSignal: "SIGKILL" } as const;
  await promisify(execFile)("ffmpeg", ["-nostdin", "-y", "-v", "error", ...inputs, ...outputs], options);
};

export interface EncodedSound {
  readonly bytes: Buffer;
  /** Options for the input, which must name a format without a header. */
  readonly input?: readonly string[];
  /** Options for the samples. Default: the sample rate and the channels of the audio. */
  readonly output?: readonly string[];
}

/** Returns the samples of each audio, with 16 bits. */
export const decodeAll = async (sounds: readonly EncodedSound[]): Promise<Buffer[]> => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "voxledger-sounds-"));
  const placed = sounds.map((sound, index) => ({ ...sound, file: join(folder.path, String(index)) }));
  for (const { file, bytes } of placed) await writeFile(file, bytes);
  await convertAll(
    placed.map(({ file, input = [], output = [] }) => ({
      from: [...input, "-i", file],
      to: [...output, "-f", "s16le", `${file}.pcm`],
    })),
  );
  return await Promise.all(placed.map(({ file }) => readFile(`${file}.pcm`)));
};
