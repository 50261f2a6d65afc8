import { tap } from "../../async/tap.ts";
import { SpeechTooLong } from "../../domain/errors.ts";
import type { Samples } from "../../pcm/read-samples.ts";
import { bytesPerSample } from "../../pcm/whole-samples.ts";
import type { SlotOptions } from "../../subprocess/run-in-slot.ts";
import type { SpeechRequest } from "../engine.ts";
import { type LocalTool, slowestRate } from "./local-tool.ts";

/**
 * Of one text. Ordinary texts of 5,000 characters take at most 5,000 s (Japanese, at the slowest
 * rate), of which espeak-ng makes 200 in a second.
 */
const mostSeconds = 7_200;

/**
 * CPU time of tools for whole audio: less than the time after which the pipeline stops to wait
 * for it (`wholeMs`). Elapsed time would depend on the machine's load, for which a client must not
 * be charged. A stream may take longer.
 */
const mostCpuMs = 8 * 60_000;

/** @throws {SpeechTooLong} the text cannot be spoken within the limits */
export const requireSpeakable = (
  { leastSeconds }: LocalTool,
  { text, ssml, lang, prosody }: SpeechRequest,
): void => {
  if (ssml) return; // it may set another rate
  const seconds = (leastSeconds?.(text, lang) ?? 0) / Math.max(prosody.rate, slowestRate);
  if (seconds > mostSeconds) throw new SpeechTooLong();
};

/**
 * Measures the speech of one text, and the work for it, which ends when either exceeds its limit.
 */
export const createSpeechLimit = (progressive: boolean) => {
  let seconds = 0;
  let cpuMs = 0;
  const check = (): void => {
    if (seconds > mostSeconds || (!progressive && cpuMs > mostCpuMs)) throw new SpeechTooLong();
  };
  const onWorked = (ms: number): void => {
    cpuMs += ms;
  };

  return {
    /**
     * The samples of a piece that `speak` speaks in a slot.
     * @throws {SpeechTooLong}, also midway
     */
    within: async (turn: SlotOptions, speak: (turn: SlotOptions) => Promise<Samples>): Promise<Samples> => {
      check();
      const { sampleRate, pcm } = await speak({ ...turn, onWorked });
      const onChunk = ({ length }: Buffer): void => {
        seconds += length / bytesPerSample / sampleRate;
        check();
      };
      return { sampleRate, pcm: tap(pcm, { onChunk }) };
    },
  };
};
