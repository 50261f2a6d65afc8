import { EngineFailed } from "../../domain/errors.ts";
import { byokProviders, type ProviderCredentials } from "../../domain/synthesis/byok-providers.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import { minDuration } from "../../domain/synthesis/min-duration.ts";
import { speakingSeconds } from "../../domain/synthesis/speaking-time.ts";
import { normalProsody } from "../../domain/synthesis/speech.ts";
import { splitText } from "../../domain/text/pieces.ts";
import { speakablePieces } from "../../domain/text/speakable.ts";
import { splitSsml } from "../../domain/text/ssml-pieces.ts";
import { concatenate } from "../../pcm/concatenate.ts";
import type { Speech, SpeechRequest } from "../engine.ts";
import type { Provider } from "../provider.ts";
import { type Exchange, endpoint, type UpstreamResponse } from "../provider-http/exchange.ts";
import { afterFirstByte } from "../provider-http/peek.ts";
import { errorFrom, invalidResponse, readStart } from "../provider-http/responses.ts";
import { azureSsml } from "./ssml.ts";
import {
  type AzureClient,
  authHeaders,
  isVoice,
  listVoices,
  prosodyParametersOf,
  takesPhonemes,
} from "./voices.ts";

interface AzureOptions {
  readonly exchange: Exchange;
  /** Default: the address of the region. */
  readonly url?: string;
}

/** Azure Speech over REST. It streams its audio. */
export const azureProvider = ({ exchange, url }: AzureOptions): Provider<ProviderCredentials["msv"]> => ({
  code: "msv",
  name: byokProviders.msv.provider,
  open: ({ subscriptionKey, region }) => {
    const base = url ?? `https://${region}.tts.speech.microsoft.com`;
    const client: AzureClient = { exchange, url: base, subscriptionKey };
    return {
      engine: {
        code: "msv",
        version: () => "azure speech v1",
        prosody: prosodyParametersOf,
        takesSsml: isVoice,
        takesPhonemes,
        takesMstts: isVoice,
        synthesize: (request, signal) => synthesize(client, request, signal),
      },
      listVoices: (signal) => listVoices(client, signal),
    };
  },
});

const synthesize = async (
  client: AzureClient,
  request: SpeechRequest,
  signal: AbortSignal,
): Promise<Speech> => {
  signal.throwIfAborted();
  const { voice, ssml, format } = request;
  if (!isVoice(voice)) throw new EngineFailed("Azure has no voice of this name.");
  const pieces = speakablePieces(piecesOf(request), ssml);
  const [only, ...others] = pieces;
  const output = outputs[format];
  const synthesizePiece = (piece: string, signal: AbortSignal, isContinuation: boolean) =>
    speak(client, { request, piece, output: samples, isContinuation }, signal);
  if (only === undefined || others.length > 0 || !output) {
    const minSeconds = (piece: string) => minDuration(piece, request);
    return concatenate(pieces, { sampleRate, synthesizePiece, minSeconds }, signal);
  }
  const audio = await speak(client, { request, piece: only, output, isContinuation: false }, signal);
  return { encoding: { kind: "encoded", format }, audio, minSeconds: minDuration(only, request) };
};

interface Output {
  readonly name: string;
  /** Known for formats of constant bit rate. */
  readonly bytesPerSecond?: number;
}

const sampleRate = 24_000;
const samples: Output = { name: "raw-24khz-16bit-mono-pcm", bytesPerSecond: 2 * sampleRate };
/** The formats that Azure encodes. The service encodes all others. */
const outputs: Readonly<Partial<Record<AudioFormat, Output>>> = {
  mp3: { name: "audio-24khz-48kbitrate-mono-mp3", bytesPerSecond: 6000 },
  ogg: { name: "ogg-24khz-16bit-mono-opus" },
};

/** Azure truncates longer audio and still responds with 200. */
const truncatedAfterSeconds = 600;
/**
 * The longest piece, by an estimate that errs on the high side: 3000 letters, or 1000 Chinese
 * characters.
 */
const maxSeconds = truncatedAfterSeconds / 2;
/** The maximum sum of the breaks of a document (ssml-breaks.ts). */
const breakSeconds = 60;

const piecesOf = ({ text, ssml, lang, prosody }: SpeechRequest): string[] => {
  const rate = Math.min(2, Math.max(0.5, prosody.rate));
  if (!ssml) return splitText(text, lang, { measure: speakingSeconds, max: maxSeconds * rate });
  // Azure speaks no slower than half the rate, for document and request together.
  const slowest = text.includes(" rate=") ? 0.5 : rate;
  const spelled = text.includes("<say-as") ? 0.5 : 1;
  const max = (maxSeconds - breakSeconds) * slowest * spelled;
  return splitSsml(text, lang, { measure: speakingSeconds, max });
};

interface PieceRequest {
  readonly request: SpeechRequest;
  readonly piece: string;
  readonly output: Output;
  readonly isContinuation: boolean;
}

const speak = async (
  client: AzureClient,
  { request, piece, output, isContinuation }: PieceRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> => {
  const { voice, prosody } = request;
  const response = await client.exchange(
    {
      method: "POST",
      url: endpoint(client.url, "/cognitiveservices/v1"),
      headers: {
        ...authHeaders(client),
        "Content-Type": "application/ssml+xml",
        "X-Microsoft-OutputFormat": output.name,
      },
      body: azureSsml({
        ...request,
        text: piece,
        prosody: prosodyParametersOf(voice).length > 0 ? prosody : normalProsody,
      }),
      isContinuation,
      beforeStart: request.beforeStart,
      waiter: request.waiter,
      seconds: speakingSeconds(piece),
    },
    signal,
  );
  if (response.status !== 200) throw await errorFrom(response, { hidden: [client.subscriptionKey, piece] });
  return afterFirstByte(notTruncated(await audioOf(response), output));
};

/** A proxy may respond with 200 and a page of its own. */
const audioOf = async (response: UpstreamResponse): Promise<AsyncIterable<Buffer>> => {
  const type = response.headers["content-type"];
  if (type === undefined || /^(?:audio\/|application\/octet-stream)/i.test(type)) return response.body;
  await readStart(response);
  throw invalidResponse("it contains no audio");
};

async function* notTruncated(
  audio: AsyncIterable<Buffer>,
  { bytesPerSecond }: Output,
): AsyncGenerator<Buffer, void> {
  let size = 0;
  for await (const chunk of audio) {
    size += chunk.length;
    yield chunk;
  }
  if (bytesPerSecond !== undefined && size >= (truncatedAfterSeconds - 1) * bytesPerSecond) {
    throw invalidResponse("Azure truncates audio of more than ten minutes");
  }
}
