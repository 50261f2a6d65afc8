import type { Audio } from "./compute.ts";

type ComparedFormat = "wav" | "flac" | "pcm";

/** The formats that hold the samples themselves. */
export const isCompared = (format: string): format is ComparedFormat => /^(?:wav|flac|pcm)$/.test(format);

const rateOfPcm = 24_000;
const wavHeaderBytes = 44;

/** @throws if the file is not in this format, as the service writes it */
export const decode = async (format: ComparedFormat, file: ArrayBuffer): Promise<Audio> => {
  if (format === "pcm") return { sampleRate: rateOfPcm, samples: new Int16Array(file) };
  const view = new DataView(file);
  if (format === "flac") return await decodeFlac(file, view);
  if (view.getUint32(0) !== 0x52494646) throw new Error("The audio is not a WAV.");
  return { sampleRate: view.getUint32(24, true), samples: new Int16Array(file.slice(wavHeaderBytes)) };
};

/**
 * The browser's decoder gives each sample of 16 bits exactly, divided by 32768, if it need not
 * resample.
 */
const decodeFlac = async (file: ArrayBuffer, view: DataView): Promise<Audio> => {
  if (view.getUint32(0) !== 0x664c6143) throw new Error("The audio is not FLAC.");
  const sampleRate = view.getUint32(18) >>> 12;
  const decoded = await new OfflineAudioContext(1, 1, sampleRate).decodeAudioData(file);
  return { sampleRate, samples: Int16Array.from(decoded.getChannelData(0), (value) => value * 32_768) };
};

/**
 * The index of the first sample that differs, or that one of them lacks; undefined if they are
 * equal.
 */
export const firstDifference = (one: Int16Array, other: Int16Array): number | undefined => {
  const longest = Math.max(one.length, other.length);
  for (let at = 0; at < longest; at++) if (one[at] !== other[at]) return at;
  return undefined;
};

/** SHA-256, in hexadecimal. */
export const digestOf = async (data: string | Int16Array): Promise<string> => {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : new Int16Array(data);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
};
