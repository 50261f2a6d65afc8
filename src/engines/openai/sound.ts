import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import type { Speech } from "../engine.ts";
import { wavSamples } from "../pcm/wav-samples.ts";
import type { UpstreamResponse } from "../provider-http/exchange.ts";
import { messageFromBody } from "../provider-http/redact.ts";
import { invalidResponse, readStart } from "../provider-http/responses.ts";
import { detectContainer, rateOf, sniffBytes } from "./container.ts";

/** `response_format: "pcm"` of OpenAI and compatible servers: s16le, mono. */
export const pcmRate = 24_000;

/**
 * Reads audio in the format that its bytes show: many servers ignore the requested format. A WAV instead of another
 * format is read as samples. @throws {UpstreamFailed} not audio, or empty
 */
export const readSpeech = async (
  answer: UpstreamResponse,
  wanted: AudioFormat,
  hidden: readonly string[],
): Promise<Speech> => {
  await requireAudio(answer, hidden);
  const { beginning, audio, leave } = await start(answer);
  try {
    if (beginning.length === 0) throw invalidResponse("it contains no audio");
    const container = detectContainer(beginning);
    if (container === "unknown") throw invalidResponse("its audio format is unknown");
    if (container !== "wav" || wanted === "wav") {
      return { encoding: { kind: "encoded", format: container }, audio };
    }
    const sampleRate = rateOf(beginning);
    if (!sampleRate) throw invalidResponse("its WAV has no format chunk");
    return { encoding: { kind: "pcm", sampleRate }, audio: wavSamples(audio, sampleRate) };
  } catch (error) {
    await leave();
    throw error;
  }
};

/** Reads raw samples; servers that know only WAV send that instead. */
export const readPcm = async (
  answer: UpstreamResponse,
  hidden: readonly string[],
): Promise<AsyncIterable<Buffer>> => {
  await requireAudio(answer, hidden);
  const { beginning, audio, leave } = await start(answer);
  try {
    if (beginning.length === 0) throw invalidResponse("it contains no audio");
    // Any two bytes may be a sample: another container needs the content type as well, or a signature of four bytes.
    const container = detectContainer(beginning);
    if (container === "wav") return wavSamples(audio, pcmRate);
    if (container === "ogg" || /^audio\/(?:mpeg|mp3|aac|flac|ogg|opus)\b/.test(typeOf(answer))) {
      throw invalidResponse("it is not raw audio");
    }
    return audio;
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
  throw invalidResponse(
    words === undefined ? "it is not audio" : `it is not audio: ${words.replace(/\.$/, "")}`,
  );
};

interface Started {
  /** Empty only at the end. */
  readonly beginning: Buffer;
  /** All bytes, including `beginning`. */
  readonly audio: AsyncIterable<Buffer>;
  /** Closes the response without reading it. */
  leave(): Promise<void>;
}

/** Resolves when enough bytes for detection have been received. */
const start = async ({ body }: UpstreamResponse): Promise<Started> => {
  const pieces = body[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  let size = 0;
  let over = false;
  while (!over && size < sniffBytes) {
    const { value, done } = await pieces.next();
    if (done) over = true;
    else {
      held.push(value);
      size += value.length;
    }
  }
  const beginning = Buffer.concat(held, size);
  const leave = async (): Promise<void> => {
    await pieces.return?.();
  };
  const audio = async function* (): AsyncGenerator<Buffer, void> {
    try {
      yield beginning;
      yield* { [Symbol.asyncIterator]: () => pieces };
    } finally {
      await leave();
    }
  };
  return { beginning, audio: audio(), leave };
};
