import { voiceName } from "../../domain/catalog/voice-name.ts";
import { EngineFailed } from "../../domain/errors.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import { type EngineCode, normalProsody } from "../../domain/synthesis/speech.ts";
import type { Engine, Speech, SpeechRequest } from "../engine.ts";
import { concatenate } from "../pcm/concatenate.ts";
import type { UpstreamResponse } from "../provider-http/exchange.ts";
import { errorFrom } from "../provider-http/responses.ts";
import { splitText, utf8Length } from "../text/pieces.ts";
import { speakablePieces } from "../text/speakable.ts";
import { requestOf, type SpeechServer, serverIdentity } from "./server.ts";
import { pcmRate, readPcm, readSpeech } from "./sound.ts";

/**
 * In bytes of UTF-8. `gpt-4o-mini-tts` takes 2,000 tokens (OpenAI's page of the model), `tts-1` 4,096 characters. A token
 * of OpenAI's byte-level tokenizers covers at least one byte, so this is safe in every script.
 */
const maxInputBytes = 2000;

const slowest = 0.25;
const fastest = 4;

type ResponseFormat = "mp3" | "opus" | "wav" | "pcm";
/** The formats that the server encodes; others are encoded here. */
const responseFormats: Readonly<Partial<Record<AudioFormat, ResponseFormat>>> = {
  mp3: "mp3",
  ogg: "opus",
  wav: "wav",
};

export interface OpenAiEngineOptions {
  readonly code: EngineCode;
  readonly server: SpeechServer;
  /** Its voices; without them the server decides. */
  readonly voices?: readonly string[] | undefined;
}

/** An engine on an OpenAI-compatible server. It streams, and supports only the rate. */
export const createOpenAiEngine = ({ code, server, voices }: OpenAiEngineOptions): Engine => {
  const has = (voice: string): boolean => voices?.includes(voice) ?? voiceName.safeParse(voice).success;

  return {
    code,
    version: () => serverIdentity(server),
    prosody: (voice) => (has(voice) ? ["rate"] : []),
    takesSsml: () => false,
    synthesize: async (request, signal) => {
      signal.throwIfAborted();
      if (!has(request.voice)) throw new EngineFailed(`The engine ${code} does not have this voice.`);
      if (request.ssml) throw new EngineFailed("This voice does not support SSML.");
      const { text, lang } = request;
      const limits = { measure: utf8Length, max: maxInputBytes };
      return speak(server, request, speakablePieces(splitText(text, lang, limits), false), signal);
    },
  };
};

const speak = async (
  server: SpeechServer,
  request: SpeechRequest,
  pieces: readonly string[],
  signal: AbortSignal,
): Promise<Speech> => {
  const { voice, prosody, format, beforeStart } = request;
  const send = async (
    input: string,
    as: ResponseFormat,
    signal: AbortSignal,
    isContinuation = false,
  ): Promise<UpstreamResponse> => {
    const body = { model: server.model, input, voice, response_format: as, ...speedOf(prosody.rate) };
    const asked = { ...requestOf(server, "audio/speech", body), isContinuation, beforeStart };
    const answer = await server.exchange(asked, signal);
    if (answer.status === 200) return answer;
    throw await errorFrom(answer, { hidden: secretsOf(server, input) });
  };

  const [only = "", ...others] = pieces;
  const responseFormat = responseFormats[format];
  if (others.length === 0 && responseFormat) {
    const answer = await send(only, responseFormat, signal);
    return await readSpeech(answer, format, secretsOf(server, only));
  }
  const askForSamples = async (piece: string, signal: AbortSignal, isContinuation: boolean) =>
    readPcm(await send(piece, "pcm", signal, isContinuation), secretsOf(server, piece));
  return await concatenate(pieces, { sampleRate: pcmRate, synthesizePiece: askForSamples }, signal);
};

/** Normal values are not sent: OpenAI refuses fields that a model does not support. */
const speedOf = (rate: number): { speed?: number } =>
  rate === normalProsody.rate ? {} : { speed: Math.min(Math.max(rate, slowest), fastest) };

/** Error messages often repeat the key or the text. */
const secretsOf = ({ apiKey }: SpeechServer, text: string): string[] => [...(apiKey ? [apiKey] : []), text];
