import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import type { Speech } from "../engine.ts";
import { wavSamples } from "../pcm/wav-samples.ts";
import type { UpstreamResponse } from "../provider-http/exchange.ts";
import { messageFromBody } from "../provider-http/redact.ts";
import { invalidResponse, readStart } from "../provider-http/responses.ts";
import { detectContainer, rateOf, sniffBytes } from "./container.ts";

/** What `response_format: "pcm"` is at OpenAI and those that follow it: s16le, mono. */
export const pcmRate = 24_000;

/**
 * The sound of an answer, told by its own bytes and not by what was asked: many servers know one format only. A WAV in
 * another's place is given as its samples.
 * @throws {UpstreamFailed} it is no sound, or an empty one
 */
export const readSpeech = async (
  answer: UpstreamResponse,
  wanted: AudioFormat,
  hidden: readonly string[],
): Promise<Speech> => {
  await mustBeSound(answer, hidden);
  const { beginning, audio, leave } = await begun(answer);
  try {
    if (beginning.length === 0) throw invalidResponse("there is no sound in it");
    const container = detectContainer(beginning);
    if (container === "unknown") throw invalidResponse("its sound is of no kind that is known here");
    if (container !== "wav" || wanted === "wav") {
      return { encoding: { kind: "encoded", format: container }, audio };
    }
    const sampleRate = rateOf(beginning);
    if (!sampleRate) throw invalidResponse("its WAV does not say what it holds");
    return { encoding: { kind: "pcm", sampleRate }, audio: wavSamples(audio, sampleRate) };
  } catch (error) {
    await leave();
    throw error;
  }
};

/** Raw samples, where raw samples were asked for; a server that knows no format but WAV gives them in that. */
export const readPcm = async (
  answer: UpstreamResponse,
  hidden: readonly string[],
): Promise<AsyncIterable<Buffer>> => {
  await mustBeSound(answer, hidden);
  const { beginning, audio, leave } = await begun(answer);
  try {
    if (beginning.length === 0) throw invalidResponse("there is no sound in it");
    // Any two bytes may be a sample: only what the type says as well, or what four bytes say, is another container.
    const container = detectContainer(beginning);
    if (container === "wav") return wavSamples(audio, pcmRate);
    if (container === "ogg" || /^audio\/(?:mpeg|mp3|aac|flac|ogg|opus)\b/.test(typeOf(answer))) {
      throw invalidResponse("it is no raw sound");
    }
    return audio;
  } catch (error) {
    await leave();
    throw error;
  }
};

const typeOf = ({ headers }: UpstreamResponse): string => headers["content-type"]?.toLowerCase() ?? "";

/** A proxy's page and an error that calls itself a success are no sound, however they begin. */
const mustBeSound = async (answer: UpstreamResponse, hidden: readonly string[]): Promise<void> => {
  if (!/^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml)\b)/.test(typeOf(answer))) return;
  const words = messageFromBody(await readStart(answer), hidden);
  throw invalidResponse(
    words === undefined ? "it is no sound" : `it is no sound but says: ${words.replace(/\.$/, "")}`,
  );
};

interface Begun {
  /** Empty only when there is no more. */
  readonly beginning: Buffer;
  /** The whole, its beginning included. */
  readonly audio: AsyncIterable<Buffer>;
  /** For whoever will not read it. */
  leave(): Promise<void>;
}

/** The answer as soon as its first bytes can tell what it is. */
const begun = async ({ body }: UpstreamResponse): Promise<Begun> => {
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
