import { execFile, spawn } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { type EncodedFormat, encodedFormats, formats } from "../../../domain/synthesis/formats.ts";
import { unknownSize, wavHeader } from "../../../domain/synthesis/wav-header.ts";
import { compileCache } from "../../compile-cache.ts";
import { startDeadlines } from "../../start-deadlines.ts";
import { type CodecLibrary, type CodecOptions, libraryOf } from "./encoding.ts";
import { inputArguments, outputArguments } from "./ffmpeg.ts";
import { noise, noiseRate } from "./noise.ts";

/** What libraries encode with the bytes of the program ffmpeg. */
export interface CheckedCodecs {
  encode(format: EncodedFormat, sampleRate: number): boolean;
  /** Sentences that say what they do not encode, and why. Undefined: they encode all formats. */
  readonly fallback: string | undefined;
}

const kindOf = (format: EncodedFormat, sampleRate = noiseRate): string => {
  const { codec, muxer } = formats[format].encoder;
  return `${libraryOf(format, sampleRate)} ${codec} ${muxer}`;
};

/** The formats that are compared: the others of a kind differ in options. */
const compared = encodedFormats.filter(
  (format, index, all) => all.findIndex((other) => kindOf(other) === kindOf(format)) === index,
);

const libraryNames: Readonly<Record<CodecLibrary, string>> = {
  lame: "LAME's library",
  libav: "ffmpeg's libraries",
};

/**
 * Compares the libraries with this ffmpeg, which may have been built with others: the names of
 * audio contain only its version. Never rejects.
 */
export const compareWithFfmpeg = async (options: CodecOptions): Promise<CheckedCodecs> => {
  const [ours, theirs] = await Promise.all([probe(options), checksumsOfFfmpeg()]);
  const same = compared.filter(
    (format) => theirs.has(format) && ours.checksums.get(format) === theirs.get(format),
  );
  const kinds = new Set(same.map((format) => kindOf(format)));
  const reasonOf = (format: EncodedFormat): string => {
    if (!theirs.has(format)) return "could not be compared with ffmpeg";
    return ours.checksums.has(format) ? "gave other bytes than ffmpeg" : ours.failure;
  };
  const failed = Object.groupBy(
    compared.filter((format) => !same.includes(format)),
    (format) => `${libraryNames[libraryOf(format, noiseRate)]} ${reasonOf(format)}`,
  );
  const sentences = Object.entries(failed).map(
    ([failure, names = []]) => `ffmpeg encodes ${names.join(", ")}, which is slower: ${failure}.`,
  );
  return {
    encode: (format, sampleRate) => kinds.has(kindOf(format, sampleRate)),
    fallback: sentences.length === 0 ? undefined : sentences.join(" "),
  };
};

export const noCodecs: CheckedCodecs = { encode: () => false, fallback: undefined };

interface Probe {
  /** Of the noise in the formats that could be encoded. */
  readonly checksums: ReadonlyMap<string, number>;
  /** Why others could not. */
  readonly failure: string;
}

/** Encodes noise with the libraries in another process, which may crash (see probe.ts). */
const probe = (options: CodecOptions): Promise<Probe> =>
  new Promise((resolve) => {
    const program = fileURLToPath(new URL("./probe.ts", import.meta.url));
    const args = ["--disable-warning=ExperimentalWarning", program, JSON.stringify(options), ...compared];
    const env = { ...process.env, ...compileCache() };
    const timeout = startDeadlines.codecProbeMs;
    execFile(process.execPath, args, { env, timeout, killSignal: "SIGKILL" }, (error, stdout) => {
      const lines = stdout.split("\n").map((line) => line.split(" "));
      const checksums = new Map(lines.map(([format = "", checksum]) => [format, Number(checksum)]));
      resolve({ checksums, failure: failureOf(error) });
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

/** Encodes in several formats with one process. What it cannot encode is missing. */
export const encodeByFfmpeg = async (
  targets: readonly EncodedFormat[],
  sampleRate: number,
  pcm: Buffer,
): Promise<ReadonlyMap<EncodedFormat, Buffer>> => {
  const outputs = targets.map((format, index) => ({ format, fd: 3 + index }));
  const args = outputs.flatMap(({ format, fd }) => ["-map", "0:a", ...outputArguments(format), `pipe:${fd}`]);
  const child = spawn("ffmpeg", [...inputArguments, "-i", "pipe:0", ...args], {
    stdio: ["pipe", "ignore", "ignore", ...outputs.map(() => "pipe" as const)],
    timeout: startDeadlines.codecProbeMs,
    killSignal: "SIGKILL",
  });
  child.on("error", () => undefined); // its outputs are empty
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(Buffer.concat([wavHeader(sampleRate, unknownSize), pcm]));
  const encoded = await Promise.all(
    outputs.map(async ({ format, fd }) => {
      const output = child.stdio[fd] as NodeJS.ReadableStream | null | undefined;
      const bytes = output ? await buffer(output).catch(() => Buffer.alloc(0)) : Buffer.alloc(0);
      return [format, bytes] as const;
    }),
  );
  return new Map(encoded.filter(([, bytes]) => bytes.length > 0));
};
