import { execFile, spawn } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { type EncodedFormat, encodedFormats, formats } from "../../../domain/synthesis/formats.ts";
import { unknownSize, wavHeader } from "../../../domain/synthesis/wav-header.ts";
import { compileCache } from "../../compile-cache.ts";
import { startDeadlines } from "../../start-deadlines.ts";
import { createLibraryLoader } from "./codecs.ts";
import { type CodecLibrary, type CodecOptions, libraryOf } from "./encoding.ts";
import { inputArguments, outputArguments } from "./ffmpeg.ts";
import { recallComparison, recordComparison } from "./known-comparison.ts";
import { noise, noiseRate } from "./noise.ts";

/** The formats that libraries encode with the same bytes as the program ffmpeg. */
export interface CheckedCodecs {
  /** True if libraries encode this format at this sample rate. */
  encode(format: EncodedFormat, sampleRate: number): boolean;
  /** True if libraries encode at least one format. */
  readonly encodeSome: boolean;
  /**
   * Sentences that say which formats libraries do not encode, and why. Undefined if they encode all
   * formats.
   */
  readonly fallback: string | undefined;
}

const kindOf = (format: EncodedFormat, sampleRate = noiseRate): string => {
  const { codec, muxer } = formats[format].encoder;
  return `${libraryOf(format, sampleRate)} ${codec} ${muxer}`;
};

/** The formats that are compared, one of each kind: the others of a kind differ only in options. */
const compared = encodedFormats.filter(
  (format, index, all) => all.findIndex((other) => kindOf(other) === kindOf(format)) === index,
);

const libraryNames: Readonly<Record<CodecLibrary, string>> = {
  lame: "LAME's library",
  libav: "ffmpeg's libraries",
};

/** Everything that the comparison depends on and that is in no file of this folder. */
const context = JSON.stringify(compared.map((format) => [kindOf(format), outputArguments(format)]));

/**
 * Returns the version of ffmpeg, without running it, if an earlier start has found that the
 * libraries encode like ffmpeg, and nothing has changed since.
 */
export const recallAlikeFfmpeg = (): string | undefined => recallComparison(context);

/**
 * Loads libraries that are known to encode like ffmpeg. Returns undefined if one of them cannot be
 * loaded.
 */
export const loadKnownCodecs = (options: CodecOptions): CheckedCodecs | undefined => {
  const isLoaded = createLibraryLoader(options);
  const areLoaded = compared.every((format) => isLoaded(libraryOf(format, noiseRate)));
  return areLoaded ? { encode: () => true, encodeSome: true, fallback: undefined } : undefined;
};

/**
 * Compares the libraries with the program ffmpeg, which may have been built with other libraries:
 * recipes contain only the version of ffmpeg. Loads the libraries that encode like ffmpeg, so that
 * a later upgrade of their packages does not change the code that this process calls. Never
 * rejects.
 */
export const compareWithFfmpeg = async (options: CodecOptions): Promise<CheckedCodecs> => {
  const since = Date.now();
  const [ours, theirs] = await Promise.all([probe(options), checksumsOfFfmpeg()]);
  const isLoaded = createLibraryLoader(options);
  const same = compared.filter(
    (format) =>
      theirs.has(format) &&
      ours.checksums.get(format) === theirs.get(format) &&
      isLoaded(libraryOf(format, noiseRate)),
  );
  const kinds = new Set(same.map((format) => kindOf(format)));
  const reasonOf = (format: EncodedFormat): string => {
    if (!theirs.has(format)) return "could not be compared with ffmpeg";
    const checksum = ours.checksums.get(format);
    if (checksum === undefined) return ours.failure;
    return checksum === theirs.get(format) ? "cannot be loaded" : "gave other bytes than ffmpeg";
  };
  const failed = Object.groupBy(
    compared.filter((format) => !same.includes(format)),
    (format) => `${libraryNames[libraryOf(format, noiseRate)]} ${reasonOf(format)}`,
  );
  const sentences = Object.entries(failed).map(
    ([failure, names = []]) => `ffmpeg encodes ${names.join(", ")}, which is slower: ${failure}.`,
  );
  if (sentences.length === 0 && options.folder === "")
    void recordComparison({ ffmpegVersion: options.ffmpegVersion, context }, ours.files, since);
  return {
    encode: (format, sampleRate) => kinds.has(kindOf(format, sampleRate)),
    encodeSome: kinds.size > 0,
    fallback: sentences.length === 0 ? undefined : sentences.join(" "),
  };
};

export const noCodecs: CheckedCodecs = { encode: () => false, encodeSome: false, fallback: undefined };

interface Probe {
  /** The checksums of the noise, by the formats that could be encoded. */
  readonly checksums: ReadonlyMap<string, number>;
  /** The reason why other formats could not be encoded. */
  readonly failure: string;
  /** The paths of the files that the process had loaded. */
  readonly files: readonly string[];
}

/** Encodes noise with the libraries in another process, which may crash (see probe.ts). */
const probe = (options: CodecOptions): Promise<Probe> =>
  new Promise((resolve) => {
    const program = fileURLToPath(new URL("./probe.ts", import.meta.url));
    const args = ["--disable-warning=ExperimentalWarning", program, JSON.stringify(options), ...compared];
    const env = { ...process.env, ...compileCache() };
    const timeout = startDeadlines.codecProbeMs;
    execFile(process.execPath, args, { env, timeout, killSignal: "SIGKILL" }, (error, stdout) => {
      const lines = stdout.trim().split("\n");
      const files = lines.filter((line) => line.startsWith("/"));
      const pairs = lines.filter((line) => !files.includes(line)).map((line) => line.split(" "));
      const checksums = new Map(pairs.map(([format = "", checksum]) => [format, Number(checksum)]));
      resolve({ checksums, failure: failureOf(error), files });
    });
  });

const failureOf = (error: { killed?: boolean; signal?: string | null } | null): string => {
  if (error?.killed) return "did not encode audio in time";
  return error?.signal ? `crashed (${error.signal})` : "cannot be used";
};

const checksumsOfFfmpeg = async (): Promise<ReadonlyMap<EncodedFormat, number>> => {
  const encoded = await encodeByFfmpeg(compared, noiseRate, noise());
  return new Map([...encoded].map(([format, bytes]) => [format, crc32(bytes)]));
};

/**
 * Encodes samples in several formats with one process of ffmpeg. If it fails, encodes them with one
 * process per format, because ffmpeg writes nothing at all if it does not know one of the encoders.
 * Formats that cannot be encoded are missing in the result. Never rejects.
 */
export const encodeByFfmpeg = async (
  targets: readonly EncodedFormat[],
  sampleRate: number,
  pcm: Buffer,
): Promise<ReadonlyMap<EncodedFormat, Buffer>> => {
  const wav = Buffer.concat([wavHeader(sampleRate, unknownSize), pcm]);
  const together = await runFfmpeg(targets, wav);
  if (!together.hasFailed || targets.length === 1) return together.encoded;
  const alone = await Promise.all(targets.map((format) => runFfmpeg([format], wav)));
  return new Map(alone.flatMap(({ encoded }) => [...encoded]));
};

interface FfmpegRun {
  readonly encoded: ReadonlyMap<EncodedFormat, Buffer>;
  /** True if ffmpeg has ended with an error. False if it did not start, or was killed. */
  readonly hasFailed: boolean;
}

const runFfmpeg = async (targets: readonly EncodedFormat[], wav: Buffer): Promise<FfmpegRun> => {
  const outputs = targets.map((format, index) => ({ format, fd: 3 + index }));
  const args = outputs.flatMap(({ format, fd }) => ["-map", "0:a", ...outputArguments(format), `pipe:${fd}`]);
  try {
    const child = spawn("ffmpeg", [...inputArguments, "-i", "pipe:0", ...args], {
      stdio: ["pipe", "ignore", "ignore", ...outputs.map(() => "pipe" as const)],
      timeout: startDeadlines.codecProbeMs,
      killSignal: "SIGKILL",
    });
    const exited = new Promise<number | null>((resolve) => {
      child.once("exit", resolve).on("error", () => resolve(null));
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(wav);
    const read = async ({ format, fd }: (typeof outputs)[number]) => {
      // If no file descriptor is free, the process has no streams.
      const output = child.stdio?.[fd] as NodeJS.ReadableStream | null | undefined;
      const bytes = output ? await buffer(output).catch(() => Buffer.alloc(0)) : Buffer.alloc(0);
      return [format, bytes] as const;
    };
    const [code, ...encoded] = await Promise.all([exited, ...outputs.map(read)]);
    if (code !== 0) return { encoded: new Map(), hasFailed: code !== null };
    return { encoded: new Map(encoded.filter(([, bytes]) => bytes.length > 0)), hasFailed: false };
  } catch {
    return { encoded: new Map(), hasFailed: false }; // `spawn` throws for a lack of memory
  }
};
