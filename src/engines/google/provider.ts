import { z } from "zod";
import { EngineFailed } from "../../domain/errors.ts";
import { byokProviders, type ProviderCredentials } from "../../domain/synthesis/byok-providers.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import { minDuration } from "../../domain/synthesis/min-duration.ts";
import { speakingSeconds } from "../../domain/synthesis/speaking-time.ts";
import type { Prosody, ProsodyParameter } from "../../domain/synthesis/speech.ts";
import { doubling, type PieceLimits, splitText, utf8Length } from "../../domain/text/pieces.ts";
import { speakablePieces } from "../../domain/text/speakable.ts";
import { splitSsml } from "../../domain/text/ssml-pieces.ts";
import { concatenate } from "../../pcm/concatenate.ts";
import type { Speech, SpeechRequest } from "../engine.ts";
import type { Provider } from "../provider.ts";
import { type Exchange, endpoint } from "../provider-http/exchange.ts";
import { afterFirstByte } from "../provider-http/peek.ts";
import { readWav } from "../provider-http/read-wav.ts";
import { UpstreamFailed } from "../provider-http/request-failed.ts";
import { errorFrom, invalidAudio, invalidResponse, readJson } from "../provider-http/responses.ts";
import { googleAuth } from "./auth.ts";
import { type GoogleClient, languageOf, listVoices, prosodyParametersOf, takesSsml } from "./voices.ts";

interface GoogleOptions {
  readonly exchange: Exchange;
  readonly url?: string;
}

/**
 * Google Cloud Text-to-Speech over REST. It returns only complete audio, so streams are requested
 * piece by piece.
 */
export const googleProvider = ({
  exchange,
  url = "https://texttospeech.googleapis.com",
}: GoogleOptions): Provider<ProviderCredentials["gwn"]> => ({
  code: "gwn",
  name: byokProviders.gwn.provider,
  open: (credentials) => {
    const client: GoogleClient = { exchange, url, signIn: googleAuth(credentials, exchange) };
    return {
      engine: {
        code: "gwn",
        version: () => "google texttospeech v1",
        prosody: prosodyParametersOf,
        takesSsml,
        takesPhonemes: takesSsml,
        synthesize: (request, signal) => synthesize(client, request, signal),
      },
      listVoices: (signal) => listVoices(client, signal),
    };
  },
});

const synthesize = async (
  client: GoogleClient,
  request: SpeechRequest,
  signal: AbortSignal,
): Promise<Speech> => {
  signal.throwIfAborted();
  const { voice, ssml, format } = request;
  languageOf(voice);
  if (ssml && !takesSsml(voice)) throw new EngineFailed("This voice does not support SSML.");
  const pieces = speakablePieces(piecesOf(request), ssml);
  const [only, ...others] = pieces;
  const encoding = encodings[format];
  if (only === undefined || others.length > 0 || !encoding) return join(client, request, pieces, signal);
  try {
    const asked = { request, piece: only, encoding, isContinuation: false };
    const audio = await afterFirstByte(await speak(client, asked, signal));
    return { encoding: { kind: "encoded", format }, audio, minSeconds: minDuration(only, request) };
  } catch (error) {
    return join(client, request, shorterPieces(error, only, request), signal, 1);
  }
};

/**
 * `splits`: the number of times that these pieces were split because their sentences are too long.
 */
const join = (
  client: GoogleClient,
  request: SpeechRequest,
  pieces: readonly string[],
  signal: AbortSignal,
  splits = 0,
): Promise<Speech> => {
  const synthesizePiece = async (piece: string, signal: AbortSignal, isFollowing: boolean) => {
    // After a split, the first part may follow earlier audio too.
    const isContinuation = isFollowing || splits > 0;
    try {
      const asked = { request, piece, encoding: "LINEAR16", isContinuation } as const;
      const wav = await readWav(await speak(client, asked, signal));
      if (wav.sampleRate !== sampleRate) throw invalidAudio(`its sample rate is ${wav.sampleRate} Hz`);
      return await afterFirstByte(wav.pcm);
    } catch (error) {
      if (splits === maxSplits) throw error;
      const { audio } = await join(client, request, shorterPieces(error, piece, request), signal, splits + 1);
      return audio;
    }
  };
  const minSeconds = (piece: string) => minDuration(piece, request);
  return concatenate(pieces, { sampleRate, synthesizePiece, minSeconds }, signal);
};

/**
 * With six splits, 5000 bytes become pieces of about 160. Users report that sentences of 300 bytes
 * were refused.
 */
const maxSplits = 6;
/**
 * The largest share of a text in one piece. It is more than a half, because otherwise a few words
 * would often be left for a third piece.
 */
const largestShare = 0.55;

/**
 * Halves a piece that Google refuses because its sentences are too long. It is divided between
 * sentences, else between clauses or words. The limit depends on the voice and is not documented.
 * Such a refusal is not billed.
 * @throws `error` if it has another cause
 */
const shorterPieces = (error: unknown, piece: string, { ssml, lang }: SpeechRequest): readonly string[] => {
  if (!isTooLong(error)) throw error;
  const measure = ssml ? (part: string) => utf8Length(part.replace(/<[^>]*>/g, "")) : utf8Length;
  const limits: PieceLimits = { measure, max: Math.ceil(largestShare * measure(piece)) };
  const pieces = ssml ? splitSsml(piece, lang, limits) : splitText(piece, lang, limits);
  if (pieces.length < 2) throw error;
  return speakablePieces(pieces, ssml);
};

const isTooLong = (error: unknown): boolean =>
  error instanceof UpstreamFailed &&
  error.status === 400 &&
  error.message.includes("contains sentences that are too long");

type GoogleEncoding = "MP3" | "OGG_OPUS" | "LINEAR16";

/** The formats that Google encodes. The service encodes all others. */
const encodings: Readonly<Partial<Record<AudioFormat, GoogleEncoding>>> = {
  mp3: "MP3",
  ogg: "OGG_OPUS",
};

/**
 * The native rate of nearly all Google voices. It is requested, so that all pieces have the same
 * rate.
 */
const sampleRate = 24_000;

/** Google's limit per request, in bytes of the whole markup. */
const maxBytes = 5000;
/** The maximum length of a piece that is requested as samples: about two minutes, 7 MB. */
const maxSampledBytes = 2000;
/** About four seconds of Latin script, in which the next piece can be requested. */
const firstBytes = 60;

const piecesOf = ({ text, ssml, lang, prosody, progressive }: SpeechRequest): string[] => {
  if (!progressive && utf8Length(text) <= maxBytes) return [text];
  const max = ssml ? maxBytes : maxSampledBytes * Math.min(1, speakingRate(prosody));
  const limits: PieceLimits = {
    measure: utf8Length,
    max,
    ...(progressive && { target: doubling(firstBytes) }),
  };
  return ssml ? splitSsml(text, lang, limits) : splitText(text, lang, limits);
};

interface PieceRequest {
  readonly request: SpeechRequest;
  readonly piece: string;
  readonly encoding: GoogleEncoding;
  readonly isContinuation: boolean;
}

const responseShape = z.object({ audioContent: z.string() });
const maxResponseBytes = 64 * 1024 * 1024;

const speak = async (
  { exchange, url, signIn }: GoogleClient,
  { request, piece, encoding, isContinuation }: PieceRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> => {
  const response = await exchange(
    {
      method: "POST",
      url: endpoint(url, "/v1/text:synthesize"),
      headers: { ...(await signIn.headers(signal)), "Content-Type": "application/json; charset=utf-8" },
      body: JSON.stringify(bodyOf(request, piece, encoding)),
      isContinuation,
      beforeStart: request.beforeStart,
      waiter: request.waiter,
      seconds: speakingSeconds(piece),
    },
    signal,
  );
  if (response.status !== 200) throw await errorFrom(response, { hidden: [...signIn.secrets, piece] });
  const shape = responseShape.safeParse(await readJson(response, maxResponseBytes));
  if (!shape.success) throw invalidResponse("it contains no audio");
  return inChunks(decoded(shape.data.audioContent), signal);
};

const bodyOf = ({ voice, ssml, prosody }: SpeechRequest, piece: string, audioEncoding: GoogleEncoding) => ({
  input: ssml ? { ssml: piece } : { text: piece.toWellFormed() },
  voice: { languageCode: languageOf(voice), name: voice },
  audioConfig: {
    audioEncoding,
    ...(audioEncoding === "LINEAR16" && { sampleRateHertz: sampleRate }),
    ...prosodyConfig(prosody, prosodyParametersOf(voice)),
  },
});

/** Omits normal values: some voices refuse a parameter even at its default. */
const prosodyConfig = (prosody: Prosody, applied: readonly ProsodyParameter[]) => {
  const is = (parameter: ProsodyParameter) => applied.includes(parameter) && prosody[parameter] !== 1;
  return {
    ...(is("rate") && { speakingRate: speakingRate(prosody) }),
    ...(is("pitch") && { pitch: within(-20, 20, 12 * Math.log2(prosody.pitch)) }),
    ...(is("volume") && { volumeGainDb: within(-96, 10, 20 * Math.log10(prosody.volume)) }),
  };
};

const speakingRate = ({ rate }: Prosody): number => within(0.25, 2, rate);

/** Limits a value to a range, and rounds it to hundredths (of a semitone or decibel). */
const within = (least: number, max: number, value: number): number =>
  Math.round(Math.min(max, Math.max(least, value)) * 100) / 100;

/** Node's decoder skips characters that are not base64, so the result is then too short. */
const decoded = (content: string): Buffer => {
  const bytes = Buffer.from(content, "base64");
  if (bytes.length < Math.floor((content.length * 3) / 4) - 2)
    throw invalidResponse("its audio is not base64");
  return bytes;
};

const chunkBytes = 64 * 1024;

/** Yields the bytes in chunks, so that the reader can leave midway. */
async function* inChunks(bytes: Buffer, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    signal.throwIfAborted();
    yield bytes.subarray(at, at + chunkBytes);
  }
}
