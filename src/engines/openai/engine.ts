import { tap } from "../../async/tap.ts";
import { EngineFailed } from "../../domain/errors.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import { minDuration } from "../../domain/synthesis/min-duration.ts";
import { speakingSeconds } from "../../domain/synthesis/speaking-time.ts";
import { type EngineCode, normalProsody } from "../../domain/synthesis/speech.ts";
import { voiceName } from "../../domain/synthesis/voice-name.ts";
import { splitText, utf8Length } from "../../domain/text/pieces.ts";
import { speakablePieces } from "../../domain/text/speakable.ts";
import { concatenate } from "../../pcm/concatenate.ts";
import type { Engine, Speech, SpeechRequest } from "../engine.ts";
import type { UpstreamResponse } from "../provider-http/exchange.ts";
import { afterFirstByte } from "../provider-http/peek.ts";
import { errorFrom } from "../provider-http/responses.ts";
import { type CaptionedWord, captionMarks, readCaptioned } from "./captions.ts";
import { pcmRate, readAsSamples, readSpeech } from "./read-audio.ts";
import { realtimeVersion, speakRealtime } from "./realtime.ts";
import { requestOf, type SpeechServer, serverIdentity } from "./server.ts";
import { isRealtimeModel } from "./voices.ts";

/**
 * The maximum length of a request's text in bytes of UTF-8. `gpt-4o-mini-tts` takes 2,000 tokens
 * (OpenAI's page of the model), `tts-1` 4,096 characters. A token of OpenAI's byte-level tokenizers
 * covers at least one byte, so this is safe in every script.
 */
const maxInputBytes = 2000;

const slowest = 0.25;
const fastest = 4;

type ResponseFormat = "mp3" | "opus" | "wav" | "pcm";
/** The formats that the server encodes. The service encodes all others. */
const responseFormats: Readonly<Partial<Record<AudioFormat, ResponseFormat>>> = {
  mp3: "mp3",
  ogg: "opus",
  wav: "wav",
};

interface OpenAiEngineOptions {
  readonly code: EngineCode;
  readonly server: SpeechServer;
  /** The server's voices; without them the server decides. */
  readonly voices?: readonly string[] | undefined;
  /** The server's name of a voice. Default: the same. */
  readonly nameOf?: (voice: string) => string;
  /** True if its model follows instructions. Default: false. */
  readonly takesInstructions?: boolean;
}

/**
 * An engine on an OpenAI-compatible server. It streams, and supports only the rate. A server with
 * captions gives marks.
 */
export const createOpenAiEngine = (options: OpenAiEngineOptions): Engine => {
  const { code, server, voices, nameOf = (voice) => voice, takesInstructions = false } = options;
  const has = (voice: string): boolean =>
    voices?.includes(nameOf(voice)) ?? voiceName.safeParse(nameOf(voice)).success;

  const isRealtime = isRealtimeModel(server.model);

  return {
    code,
    // The server's own MP3 has other bytes than an MP3 that is encoded here from the samples of
    // captions.
    version: () =>
      [
        serverIdentity(server),
        ...(isRealtime ? [realtimeVersion] : server.captions ? ["captions"] : []),
      ].join(" "),
    prosody: (voice) => (has(voice) ? ["rate"] : []),
    takesSsml: () => false,
    takesInstructions: () => takesInstructions,
    marks: (voice) => server.captions === true && !isRealtime && has(voice),
    synthesize: async (asked, signal) => {
      signal.throwIfAborted();
      const request = { ...asked, voice: nameOf(asked.voice) };
      if (!has(asked.voice)) throw new EngineFailed(`The engine ${code} does not have this voice.`);
      if (request.ssml) throw new EngineFailed("This voice does not support SSML.");
      if (isRealtime) return speakRealtime({ server, request }, signal);
      const { text, lang } = request;
      const limits = { measure: utf8Length, max: maxInputBytes };
      const pieces = speakablePieces(splitText(text, lang, limits), false);
      const speak = server.captions ? speakCaptioned : speakPlain;
      return speak({ request, pieces, ...senderOf(server, request) }, signal);
    },
  };
};

interface Sending {
  /** `audio/speech`, or a path beside the version. */
  readonly path?: string;
  readonly as: ResponseFormat;
  readonly more?: Readonly<Record<string, unknown>>;
  readonly isContinuation?: boolean;
}

type Send = (input: string, sending: Sending, signal: AbortSignal) => Promise<UpstreamResponse>;

interface Speaking {
  readonly request: SpeechRequest;
  readonly pieces: readonly string[];
  readonly send: Send;
  /** Returns what must not appear in messages: servers often repeat the key or the texts. */
  readonly hidden: (piece: string) => string[];
}

/**
 * Sends one piece.
 * @throws {UpstreamFailed} if the status is not 200
 */
const senderOf = (server: SpeechServer, request: SpeechRequest): Pick<Speaking, "send" | "hidden"> => {
  const { voice, prosody, instructions, beforeStart, waiter } = request;
  const hidden = (piece: string) => [piece, instructions ?? "", server.apiKey ?? ""];
  const send: Send = async (input, { path = "audio/speech", as, more, isContinuation = false }, signal) => {
    const body = {
      model: server.model,
      input,
      voice,
      response_format: as,
      ...speedOf(prosody.rate),
      ...(instructions && { instructions }),
      ...more,
    };
    const slotOptions = { isContinuation, beforeStart, waiter, seconds: speakingSeconds(input) };
    const response = await server.exchange({ ...requestOf(server, path, body), ...slotOptions }, signal);
    if (response.status === 200) return response;
    throw await errorFrom(response, { hidden: hidden(input) });
  };
  return { send, hidden };
};

const speakPlain = async (
  { request, pieces, send, hidden }: Speaking,
  signal: AbortSignal,
): Promise<Speech> => {
  const [only = "", ...others] = pieces;
  const { decode, format: wanted } = request;
  const as = responseFormats[wanted];
  if (others.length === 0 && as) {
    const options = { wanted, hidden: hidden(only), decode };
    const speech = await readSpeech(await send(only, { as }, signal), options, signal);
    return { ...speech, minSeconds: minDuration(only, request) };
  }
  /** The sample rate of the first piece. */
  let sampleRate: number | undefined;
  const askForSamples = async (piece: string, signal: AbortSignal, isContinuation: boolean) => {
    const response = await send(piece, { as: "pcm", isContinuation }, signal);
    const options = { hidden: hidden(piece), decode, sampleRate };
    const samples = await readAsSamples(response, options, signal);
    sampleRate ??= samples.sampleRate;
    return samples.pcm;
  };
  const minSeconds = (piece: string) => minDuration(piece, request);
  const rate = () => sampleRate ?? pcmRate;
  return await concatenate(pieces, { sampleRate: rate, synthesizePiece: askForSamples, minSeconds }, signal);
};

/**
 * The times of words count from the start of their piece. A piece begins where the piece before it
 * ends, which is known only at the end, because pieces are prefetched.
 */
const speakCaptioned = async ({ request, pieces, send }: Speaking, signal: AbortSignal): Promise<Speech> => {
  const captioned = pieces.map((text) => ({ text, words: [] as CaptionedWord[], samples: 0 }));
  const sending = { path: "/dev/captioned_speech", as: "pcm", more: { stream: true } } as const;
  const synthesizePiece = async (
    piece: (typeof captioned)[number],
    signal: AbortSignal,
    isContinuation: boolean,
  ) => {
    const response = await send(piece.text, { ...sending, isContinuation }, signal);
    Object.assign(piece, { words: [], samples: 0 }); // an earlier attempt may have failed
    const audio = readCaptioned(response, (word) => piece.words.push(word));
    return tap(await afterFirstByte(audio), {
      onChunk: ({ length }) => {
        piece.samples += length / 2;
      },
    });
  };
  const minSeconds = ({ text }: { text: string }) => minDuration(text, request);
  const speech = await concatenate(captioned, { sampleRate: pcmRate, synthesizePiece, minSeconds }, signal);
  const marks = () => {
    let offset = 0;
    const words = captioned.flatMap(({ words, samples }) => {
      const timed = words.map(({ word, seconds }) => ({
        word,
        seconds: Math.min(seconds, samples / pcmRate) + offset / pcmRate,
      }));
      offset += samples;
      return timed;
    });
    return captionMarks(request, words);
  };
  return { ...speech, marks };
};

/** Normal values are not sent: OpenAI refuses fields that a model does not support. */
const speedOf = (rate: number): { speed?: number } =>
  rate === normalProsody.rate ? {} : { speed: Math.min(Math.max(rate, slowest), fastest) };
