import type { AudioFormat, DecodedContainer } from "../../domain/synthesis/formats.ts";
import { readMpegFrame } from "../../domain/synthesis/mpeg-frame.ts";
import type { Samples } from "../../pcm/read-samples.ts";
import { resample } from "../../pcm/resample.ts";
import type { Decode, Speech } from "../engine.ts";
import type { UpstreamResponse } from "../provider-http/exchange.ts";
import { afterFirstByte, peek } from "../provider-http/peek.ts";
import { isWav, monoSamples, readWav } from "../provider-http/read-wav.ts";
import { messageFromBody } from "../provider-http/redact.ts";
import { invalidAudio, invalidResponse, readStart } from "../provider-http/responses.ts";

/** `response_format: "pcm"` of OpenAI and compatible servers: s16le, mono. */
export const pcmRate = 24_000;

export interface ReadOptions {
  /** The strings that must not appear in messages. */
  readonly hidden: readonly string[];
  readonly decode: Decode | undefined;
}

/**
 * Recognises audio by its bytes, because many servers ignore the requested format and declare
 * another one. Only the wanted container is passed on.
 * @throws {EngineFailed} if it is not audio, is empty, or has an unknown format
 */
export const readSpeech = async (
  response: UpstreamResponse,
  { wanted, ...options }: ReadOptions & { readonly wanted: AudioFormat },
  signal: AbortSignal,
): Promise<Speech> => {
  const audio = await sniff(response, options.hidden);
  if (isInFormat(audio, wanted)) {
    return { encoding: { kind: "encoded", format: wanted }, audio: audio.audio };
  }
  const { sampleRate, pcm } = await samplesOf(audio, options, signal);
  return { encoding: { kind: "pcm", sampleRate }, audio: pcm };
};

/**
 * Reads the response to a request for samples (`response_format: "pcm"`), and converts them to
 * `sampleRate` if it is given. They may be in any container.
 * @throws {EngineFailed} as `readSpeech`
 */
export const readAsSamples = async (
  response: UpstreamResponse,
  { sampleRate, ...options }: ReadOptions & { readonly sampleRate?: number | undefined },
  signal: AbortSignal,
): Promise<Samples> => {
  const samples = await samplesOf(
    await sniff(response, options.hidden, { askedForSamples: true }),
    options,
    signal,
  );
  const from = samples.sampleRate;
  if (sampleRate === undefined || from === sampleRate) return samples;
  // All usual rates are multiples of 25. Others would need a large filter.
  if (from % 25 !== 0 || sampleRate % 25 !== 0)
    throw invalidAudio(`its sample rate changed from ${sampleRate} to ${from} Hz`);
  return { sampleRate, pcm: resample(samples.pcm, from, sampleRate) };
};

type Container = DecodedContainer | "wav";

interface Sniffed {
  /** Undefined for raw samples. */
  readonly container: Container | undefined;
  readonly raw: RawSamples;
  readonly beginning: Buffer;
  readonly audio: AsyncIterable<Buffer>;
}

/**
 * Recognises audio by its first bytes; if it is refused, the response is closed. Raw samples are
 * known by their content type, or by their bytes if they were asked for: LiteLLM labels all audio
 * as audio/mpeg (its issue 4332), and other servers do not label it.
 */
const sniff = async (
  response: UpstreamResponse,
  hidden: readonly string[],
  { askedForSamples = false } = {},
): Promise<Sniffed> => {
  await requireAudio(response, hidden);
  const declared = rawSamplesOf(typeOf(response));
  const mayBeRaw = declared !== undefined || askedForSamples;
  const { beginning, audio, close } = await peek(response.body, mayBeRaw ? rawSniffBytes : sniffBytes);
  try {
    if (beginning.length === 0) throw invalidAudio("it contains no audio");
    const raw = declared ?? openAiSamples;
    const isRaw = declared !== undefined || (askedForSamples && areSamples(beginning));
    const container = containerOf(beginning, isRaw);
    if (container || isRaw) return { container, raw, beginning, audio };
    throw invalidAudio(
      "its audio format is unknown (known are WAV, MP3, Ogg, FLAC, AAC and samples of 16 bit)",
    );
  } catch (error) {
    await close();
    throw error;
  }
};

const isInFormat = ({ container, beginning }: Sniffed, wanted: AudioFormat): boolean =>
  container === wanted && container !== "wav" && (container !== "ogg" || isOpusOrVorbis(beginning));

/** The first packet of an Ogg stream follows a page header with one segment. */
const isOpusOrVorbis = (ogg: Buffer): boolean =>
  ["OpusHead", "\x01vorbis"].some((name) => ogg.toString("latin1", 28).startsWith(name));

const samplesOf = async (
  { container, raw, audio }: Sniffed,
  { decode }: ReadOptions,
  signal: AbortSignal,
): Promise<Samples> => {
  if (container === undefined) return { sampleRate: raw.sampleRate, pcm: monoSamples(audio, raw) };
  const { sampleRate, pcm } = await readWav(
    container === "wav" ? audio : decoded(audio, container, decode, signal),
  );
  return { sampleRate, pcm: await afterFirstByte(pcm) };
};

const decoded = (
  audio: AsyncIterable<Buffer>,
  container: DecodedContainer,
  decode: Decode | undefined,
  signal: AbortSignal,
): AsyncIterable<Buffer> => {
  if (!decode) throw invalidAudio(`it is ${container}, which is not decoded here`);
  return decode(audio, container, signal);
};

interface RawSamples {
  readonly sampleRate: number;
  readonly channels: number;
}

const openAiSamples: RawSamples = { sampleRate: pcmRate, channels: 1 };

const rawTypes = /^audio\/(?:(?:x-)?(?:pcm|raw|l16)(?:[-_]?s16le)?)\s*(?:;|$)/;

/**
 * The samples that a content type declares, e.g. openedai-speech's `audio/pcm;rate=22050`. Even
 * `audio/L16` is taken as little-endian, although RFC 3551 defines it as big-endian: Gemini's
 * `audio/L16;codec=pcm;rate=24000` is little-endian, and so is OpenAI's `response_format: "pcm"`.
 */
const rawSamplesOf = (type: string): RawSamples | undefined => {
  if (!rawTypes.test(type)) return undefined;
  const parameter = (name: string, fallback: number): number =>
    Number(new RegExp(`;\\s*${name}="?(\\d{1,6})\\b`).exec(type)?.[1] ?? fallback);
  return { sampleRate: parameter("rate", pcmRate), channels: parameter("channels", 1) };
};

const typeOf = ({ headers }: UpstreamResponse): string => headers["content-type"]?.toLowerCase() ?? "";

/** HTML pages and JSON errors with status 200 are not audio. */
const requireAudio = async (response: UpstreamResponse, hidden: readonly string[]): Promise<void> => {
  if (!/^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml)\b)/.test(typeOf(response))) return;
  const words = messageFromBody(await readStart(response), hidden);
  throw invalidResponse("it is not audio", words);
};

/** The number of bytes up to the name of the codec in an Ogg stream. */
const sniffBytes = 36;
/**
 * Any bytes may be samples, so a frame of MP3 or AAC is believed only if another follows (of MP3 at
 * most 1,441 bytes later).
 */
const rawSniffBytes = 1_500;

/** The container of audio by its first bytes. Raw samples have no signature. */
const containerOf = (beginning: Buffer, mayBeRaw: boolean): Container | undefined => {
  const four = beginning.toString("latin1", 0, 4);
  if (four === "OggS") return "ogg";
  if (four === "fLaC") return "flac";
  if (isWav(beginning)) return "wav";
  if (four.startsWith("ID3") && (beginning[3] ?? 0) <= 4) return "mp3";
  if (beginning.length < 4) return undefined;
  const frame = readMpegFrame(beginning.readUInt32BE(0));
  if (frame && (!mayBeRaw || isFrameAt(beginning, frame.length))) return "mp3";
  if (isAdts(beginning) && (!mayBeRaw || isAdts(beginning.subarray(adtsLength(beginning))))) return "aac";
  return undefined;
};

/** Compressed audio and text, read as 16-bit samples, have at least this RMS. */
const quiet = 8_000;

/**
 * True for s16le samples of speech: they begin quietly, or change little from one to the next.
 * Compressed audio is as loud as noise, and text has a constant high bit.
 */
const areSamples = (beginning: Buffer): boolean => {
  if (otherContainers.test(beginning.toString("latin1", 0, 16))) return false;
  const samples = Array.from({ length: Math.floor(beginning.length / 2) }, (_, at) =>
    beginning.readInt16LE(2 * at),
  );
  const mean = samples.reduce((sum, one) => sum + one, 0) / samples.length;
  const steps = samples.slice(1).map((one, at) => one - (samples[at] ?? 0));
  return rms(samples) < quiet || rms(steps) < rms(samples.map((one) => one - mean)) / 2;
};

const rms = (values: readonly number[]): number =>
  Math.sqrt(values.reduce((sum, one) => sum + one * one, 0) / values.length);

/** MP4, AIFF, CAF, AU and AMR: their first bytes may be mostly zeros. */
const otherContainers = /^(?:.{4}ftyp|FORM|caff|\.snd|#!AMR)/s;

const isFrameAt = (mp3: Buffer, at: number): boolean =>
  mp3.length >= at + 4 && readMpegFrame(mp3.readUInt32BE(at)) !== undefined;

/** Returns the length of a frame with its header, in bytes. */
const adtsLength = ([, , , third = 0, fourth = 0, fifth = 0]: Buffer): number =>
  ((third & 3) << 11) | (fourth << 3) | (fifth >> 5);

/** AAC has the sync word of MPEG and layer 0. */
const isAdts = ([first = 0, second = 0]: Buffer): boolean => first === 0xff && (second & 0xf6) === 0xf0;
