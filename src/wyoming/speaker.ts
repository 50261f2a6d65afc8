import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Streaming, Synthesis, SynthesisStream } from "../application/synthesis/delivery.ts";
import { NothingToSpeak } from "../domain/errors.ts";
import type { Caller } from "./caller.ts";
import { audioChunk, audioStart, audioStop, bytesPerSample, synthesizeStopped } from "./events.ts";
import type { Utterance } from "./utterance.ts";

export interface SpeakerServices {
  readonly caller: Caller;
  readonly synthesis: Pick<Synthesis, "plan">;
  readonly streaming: Pick<Streaming, "begin">;
}

interface SpeakerOptions {
  readonly services: SpeakerServices;
  /**
   * Sends an event at the pace of the client.
   * @throws the signal's reason
   */
  readonly send: (event: Buffer) => Promise<void>;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** A chunk is 170 ms of speech. */
const chunkBytes = 8 * 1024;

/**
 * Speaks an utterance: sends `audio-start`, the audio of its pieces, and `audio-stop`. Each piece
 * is a serving. A piece with nothing to speak (an emoji, a row of dashes) is left out and not
 * charged; an utterance of nothing else is refused.
 * @throws the error that refuses or ends the utterance
 */
export const speakUtterance = async (utterance: Utterance, options: SpeakerOptions): Promise<void> => {
  const { services, send, signal } = options;
  const { manner, isStreamed } = utterance;
  let hasAudio = false;
  let silence: NothingToSpeak | undefined;
  for await (const text of utterance.pieces(signal)) {
    signal.throwIfAborted();
    const { caller, synthesis } = services;
    const principal = caller.current();
    const plan = synthesis.plan({ ...manner, text }, principal.websiteId);
    const context = { principal, requestId: randomUUID(), kind: "wyoming" } as const;
    const stream = plan.muted
      ? undefined
      : await services.streaming.begin(plan, context, signal).catch(ifNothingToSpeak);
    if (stream instanceof NothingToSpeak) {
      silence ??= stream;
      continue;
    }
    if (!hasAudio) await send(audioStart());
    hasAudio = true;
    if (stream) await sendAudio(stream, context.requestId, options);
  }
  if (silence && !hasAudio) throw silence;
  if (hasAudio) await send(audioStop());
  if (isStreamed) await send(synthesizeStopped());
};

/**
 * Returns the error for a piece with nothing to speak, so that the piece is left out. Throws every
 * other error, such as the one for letters that no voice pronounces.
 */
const ifNothingToSpeak = (error: unknown): NothingToSpeak => {
  if (error instanceof NothingToSpeak) return error;
  throw error;
};

const sendAudio = async (
  { audio, delivered }: SynthesisStream,
  requestId: string,
  { send, signal, log }: SpeakerOptions,
): Promise<void> => {
  const startedAt = performance.now();
  let bytes = 0;
  let outcome = "cut";
  try {
    for await (const samples of inSamples(audio)) {
      signal.throwIfAborted();
      delivered();
      await send(audioChunk(samples));
      bytes += samples.length;
    }
    outcome = "whole";
  } finally {
    log.info({ requestId, outcome, bytes, ms: Math.round(performance.now() - startedAt) }, "stream");
  }
};

/** Cuts the audio into chunks of whole samples. */
async function* inSamples(audio: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let half: Buffer = Buffer.alloc(0);
  for await (const chunk of audio) {
    const bytes = half.length === 0 ? chunk : Buffer.concat([half, chunk]);
    const whole = bytes.length - (bytes.length % bytesPerSample);
    half = bytes.subarray(whole);
    for (let at = 0; at < whole; at += chunkBytes) {
      yield bytes.subarray(at, Math.min(at + chunkBytes, whole));
    }
  }
}
