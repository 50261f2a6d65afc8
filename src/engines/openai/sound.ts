import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import type { Speech } from "../engine.ts";
import { peek } from "../pcm/peek.ts";
import { wavSamples } from "../pcm/wav-samples.ts";
import type { UpstreamResponse } from "../provider-http/exchange.ts";
import { messageFromBody } from "../provider-http/redact.ts";
import { invalidResponse, readStart } from "../provider-http/responses.ts";

/** `response_format: "pcm"` of OpenAI and compatible servers: s16le, mono. */
export const pcmRate = 24_000;

/**
 * Reads audio in the format that its bytes show: many servers ignore the requested format. A WAV instead of another
 * format is read as samples. @throws {UpstreamFailed} not audio, or empty
 */
export const readSpeech = (
  answer: UpstreamResponse,
  wanted: AudioFormat,
  hidden: readonly string[],
): Promise<Speech> =>
  sniff(answer, hidden, (beginning, audio): Speech => {
    const container = detectContainer(beginning);
    if (container === "unknown") throw invalidResponse("its audio format is unknown");
    if (container !== "wav" || wanted === "wav") {
      return { encoding: { kind: "encoded", format: container }, audio };
    }
    const sampleRate = rateOf(beginning);
    if (!sampleRate) throw invalidResponse("its WAV has no format chunk");
    return { encoding: { kind: "pcm", sampleRate }, audio: wavSamples(audio, sampleRate) };
  });

/** Reads raw samples; servers that know only WAV send that instead. */
export const readPcm = (
  answer: UpstreamResponse,
  hidden: readonly string[],
): Promise<AsyncIterable<Buffer>> =>
  sniff(answer, hidden, (beginning, audio) => {
    // Any two bytes may be a sample: another container needs the content type as well, or a signature of four bytes.
    const container = detectContainer(beginning);
    if (container === "wav") return wavSamples(audio, pcmRate);
    if (container === "ogg" || /^audio\/(?:mpeg|mp3|aac|flac|ogg|opus)\b/.test(typeOf(answer))) {
      throw invalidResponse("it is not raw audio");
    }
    return audio;
  });

/** Reads audio by its first bytes; if it is refused, the response is closed. */
const sniff = async <T>(
  answer: UpstreamResponse,
  hidden: readonly string[],
  read: (beginning: Buffer, audio: AsyncIterable<Buffer>) => T,
): Promise<T> => {
  await requireAudio(answer, hidden);
  const { beginning, audio, leave } = await peek(answer.body, sniffBytes);
  try {
    if (beginning.length === 0) throw invalidResponse("it contains no audio");
    return read(beginning, audio);
  } catch (error) {
    await leave();
    throw error;
  }
};

const typeOf = ({ headers }: UpstreamResponse): string => headers["content-type"]?.toLowerCase() ?? "";

/** HTML pages and JSON errors with status 200 are not audio. */
const requireAudio = async (answer: UpstreamResponse, hidden: readonly string[]): Promise<void> => {
  if (!/^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml)\b)/.test(typeOf(answer))) return;
  const words = messageFromBody(await readStart(answer), hidden);
  throw invalidResponse("it is not audio", words);
};

/** The container of audio by its first bytes. Raw samples have no signature and are `unknown`. */
type Container = "mp3" | "ogg" | "wav" | "unknown";

/** Bytes needed for detection. */
const sniffBytes = 28;

const detectContainer = (beginning: Buffer): Container => {
  const four = beginning.toString("latin1", 0, 4);
  if (four === "OggS") return "ogg";
  if (four === "RIFF" && beginning.toString("latin1", 8, 12) === "WAVE") return "wav";
  if (four.startsWith("ID3") || isMpegFrame(beginning)) return "mp3";
  return "unknown";
};

/** The sample rate of a WAV whose first chunk is the format. */
const rateOf = (wav: Buffer): number | undefined =>
  wav.length >= sniffBytes && wav.toString("latin1", 12, 16) === "fmt " ? wav.readUInt32LE(24) : undefined;

/** Layer III of any MPEG version: AAC in ADTS has the same first eleven bits, and layer 0. */
const isMpegFrame = (bytes: Buffer): boolean => {
  const [first = 0, second = 0] = bytes;
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  return first === 0xff && second >= 0xe0 && version !== 1 && layer === 1;
};
