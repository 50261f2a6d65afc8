import { z } from "zod";
import { byokProviders, type ProviderCredentials } from "../../domain/accounts/byok-providers.ts";
import { EngineFailed } from "../../domain/errors.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import type { Knob, Prosody } from "../../domain/synthesis/speech.ts";
import { endpoint } from "../endpoint.ts";
import type { Speech, SpeechRequest } from "../engine.ts";
import { afterFirstByte } from "../pcm/after-first-byte.ts";
import { concatenate } from "../pcm/concatenate.ts";
import { wavSamples } from "../pcm/wav-samples.ts";
import type { Provider } from "../provider.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import { errorFrom, invalidResponse, readJson } from "../provider-http/responses.ts";
import { doubling, type PieceLimits, splitText, utf8Length } from "../text/pieces.ts";
import { speakablePieces } from "../text/speakable.ts";
import { splitSsml } from "../text/ssml-pieces.ts";
import { googleAuth } from "./auth.ts";
import { type GoogleClient, knobsOf, languageOf, listVoices, takesSsml } from "./voices.ts";

export interface GoogleOptions {
  readonly exchange: Exchange;
  /** Default Google's own. */
  readonly url?: string;
}

/** Google Cloud Text-to-Speech over REST, which answers only whole: who waits is given the text piece by piece. */
export const googleProvider = ({
  exchange,
  url = "https://texttospeech.googleapis.com",
}: GoogleOptions): Provider<ProviderCredentials["gwn"]> => ({
  code: "gwn",
  name: byokProviders.gwn.provider,
  open: (credentials) => {
    const wire: GoogleClient = { exchange, url, signIn: googleAuth(credentials, exchange) };
    return {
      engine: {
        code: "gwn",
        version: () => "google texttospeech v1",
        prosody: knobsOf,
        takesSsml,
        synthesize: (request, signal) => synthesize(wire, request, signal),
      },
      listVoices: (signal) => listVoices(wire, signal),
    };
  },
});

const synthesize = async (
  wire: GoogleClient,
  request: SpeechRequest,
  signal: AbortSignal,
): Promise<Speech> => {
  signal.throwIfAborted();
  const { voice, ssml, format } = request;
  languageOf(voice);
  if (ssml && !takesSsml(voice)) throw new EngineFailed("This voice takes no SSML.");
  const pieces = speakablePieces(piecesOf(request), ssml);
  const [only, ...others] = pieces;
  const encoding = encodings[format];
  const say = (piece: string, encoding: GoogleEncoding, wanted: AbortSignal, isContinuation = false) =>
    speak(wire, { request, piece, encoding, isContinuation }, wanted);
  if (only !== undefined && others.length === 0 && encoding) {
    return {
      encoding: { kind: "encoded", format },
      audio: await afterFirstByte(await say(only, encoding, signal)),
    };
  }
  const synthesizePiece = async (piece: string, wanted: AbortSignal, isContinuation: boolean) =>
    afterFirstByte(wavSamples(await say(piece, "LINEAR16", wanted, isContinuation), sampleRate));
  return concatenate(pieces, { sampleRate, synthesizePiece }, signal);
};

type GoogleEncoding = "MP3" | "OGG_OPUS" | "LINEAR16";

/** The formats that Google encodes; others are encoded here. */
const encodings: Readonly<Partial<Record<AudioFormat, GoogleEncoding>>> = {
  mp3: "MP3",
  ogg: "OGG_OPUS",
};

/** What nearly all of its voices have by themselves; asked for, so that every piece has it. */
const sampleRate = 24_000;

/** Google's limit for one call, markup included, in bytes. */
const mostBytes = 5000;
/** Of a piece that comes as samples: some two minutes, 7 MB, where 5000 bytes at a slow rate would be a hundred. */
const mostHeardBytes = 2000;
/** Some four seconds of Latin script: what is heard of it covers the making of the next. */
const firstBytes = 60;

const piecesOf = ({ text, ssml, lang, prosody, progressive }: SpeechRequest): string[] => {
  if (!progressive && utf8Length(text) <= mostBytes) return [text];
  const max = ssml ? mostBytes : mostHeardBytes * Math.min(1, speakingRate(prosody));
  const limits: PieceLimits = {
    measure: utf8Length,
    max,
    ...(progressive && { target: doubling(firstBytes) }),
  };
  return ssml ? splitSsml(text, lang, limits) : splitText(text, lang, limits);
};

interface Saying {
  readonly request: SpeechRequest;
  readonly piece: string;
  readonly encoding: GoogleEncoding;
  readonly isContinuation: boolean;
}

const answerShape = z.object({ audioContent: z.string() });
const mostAnswerBytes = 64 * 1024 * 1024;

const speak = async (
  { exchange, url, signIn }: GoogleClient,
  { request, piece, encoding, isContinuation }: Saying,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> => {
  const answer = await exchange(
    {
      method: "POST",
      url: endpoint(url, "/v1/text:synthesize"),
      headers: { ...(await signIn.headers(signal)), "Content-Type": "application/json; charset=utf-8" },
      body: JSON.stringify(bodyOf(request, piece, encoding)),
      isContinuation,
      beforeStart: request.beforeStart,
    },
    signal,
  );
  if (answer.status !== 200) throw await errorFrom(answer, { hidden: [...signIn.secrets, piece] });
  const shape = answerShape.safeParse(await readJson(answer, mostAnswerBytes));
  if (!shape.success) throw invalidResponse("there is no sound in it");
  return inChunks(decoded(shape.data.audioContent), signal);
};

const bodyOf = ({ voice, ssml, prosody }: SpeechRequest, piece: string, audioEncoding: GoogleEncoding) => ({
  input: ssml ? { ssml: piece } : { text: piece.toWellFormed() },
  voice: { languageCode: languageOf(voice), name: voice },
  audioConfig: {
    audioEncoding,
    ...(audioEncoding === "LINEAR16" && { sampleRateHertz: sampleRate }),
    ...turned(prosody, knobsOf(voice)),
  },
});

/** Only what is not normal: some voices refuse a knob even at its middle. */
const turned = (prosody: Prosody, applied: readonly Knob[]) => {
  const is = (knob: Knob) => applied.includes(knob) && prosody[knob] !== 1;
  return {
    ...(is("rate") && { speakingRate: speakingRate(prosody) }),
    ...(is("pitch") && { pitch: within(-20, 20, 12 * Math.log2(prosody.pitch)) }),
    ...(is("volume") && { volumeGainDb: within(-96, 10, 20 * Math.log10(prosody.volume)) }),
  };
};

const speakingRate = ({ rate }: Prosody): number => within(0.25, 2, rate);

/** To hundredths: of a semitone or a decibel nobody hears less. */
const within = (least: number, max: number, value: number): number =>
  Math.round(Math.min(max, Math.max(least, value)) * 100) / 100;

/** Node's decoder leaves out what is not base64: then there are too few bytes. */
const decoded = (content: string): Buffer => {
  const bytes = Buffer.from(content, "base64");
  if (bytes.length < Math.floor((content.length * 3) / 4) - 2)
    throw invalidResponse("its sound is not base64");
  return bytes;
};

const chunkBytes = 64 * 1024;

/** What came at once, so that it can be left midway like what comes as a stream. */
async function* inChunks(bytes: Buffer, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    signal.throwIfAborted();
    yield bytes.subarray(at, at + chunkBytes);
  }
}
