import type { Clock } from "../../async/clock.ts";
import { tap } from "../../async/tap.ts";
import { SpeechTooLong } from "../../domain/errors.ts";
import type { SlotOptions } from "../../subprocess/run-in-slot.ts";
import type { SpeechRequest } from "../engine.ts";
import type { Samples } from "../pcm/read-samples.ts";
import { bytesPerSample } from "../pcm/whole-samples.ts";
import { type LocalTool, slowestRate } from "./local-tool.ts";

/**
 * Of one text. Ordinary texts of 5,000 characters take at most 5,000 s (Japanese, at the slowest rate), of which espeak-ng makes 200 in a
 * second.
 */
const mostSeconds = 7_200;

/** Time in the slots of tools; less than a request for a whole sound may take, queues included. A stream may take longer. */
const mostWorkMs = 45_000;

/** @throws {SpeechTooLong} the text cannot be spoken within the limits */
export const requireSpeakable = (
  { leastSeconds }: LocalTool,
  { text, ssml, lang, prosody }: SpeechRequest,
): void => {
  if (ssml) return; // it may set another rate
  const seconds = (leastSeconds?.(text, lang) ?? 0) / Math.max(prosody.rate, slowestRate);
  if (seconds > mostSeconds) throw new SpeechTooLong();
};

/** Measures the work for one text, which ends when it exceeds a limit: the queues of a busy service do not count. */
export const createSpeechLimit = (clock: Clock, progressive: boolean) => {
  let seconds = 0;
  let workMs = 0;
  /** Pieces in slots, and since when there are any. */
  const running = { pieces: 0, since: 0 };
  const workedFor = (): number => workMs + (running.pieces > 0 ? clock.now() - running.since : 0);
  const check = (): void => {
    if (seconds > mostSeconds || (!progressive && workedFor() > mostWorkMs)) throw new SpeechTooLong();
  };
  const start = (): void => {
    if (running.pieces++ === 0) running.since = clock.now();
  };
  const stop = (): void => {
    workMs = workedFor();
    running.pieces--;
    running.since = clock.now();
  };

  return {
    /** The samples of a piece that `speak` speaks in a slot. @throws {SpeechTooLong}, also midway */
    within: async (turn: SlotOptions, speak: (turn: SlotOptions) => Promise<Samples>): Promise<Samples> => {
      check();
      let hasStarted = false;
      const beforeStart = async (): Promise<void> => {
        await turn.beforeStart?.();
        hasStarted = true;
        start();
      };
      const { sampleRate, pcm } = await speak({ ...turn, beforeStart }).catch((error: unknown) => {
        if (hasStarted) stop();
        throw error;
      });
      const onChunk = ({ length }: Buffer): void => {
        seconds += length / bytesPerSample / sampleRate;
        check();
      };
      return { sampleRate, pcm: tap(pcm, { onChunk, onClose: stop }) };
    },
  };
};
