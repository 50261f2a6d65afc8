import { systemTime, type Time } from "../async/time.ts";
import type { JobSpec } from "./protocol.ts";

/** Clients with a slow connection may read at half the pace of playback. */
const slowestPace = 0.5;

/** `sampleRate`: the sample rate of an encoder's input. */
type DeadlineSpec = Pick<JobSpec, "type" | "deadlineMs"> & { readonly sampleRate?: number };

interface JobDeadlineOptions {
  /** Added to the deadline. */
  readonly graceMs?: number;
  readonly time?: Time | undefined;
}

/**
 * Starts the deadline of a job. The deadline of an encoder is extended by its input. A client that
 * listens to the audio makes the encoder wait for as long as the audio plays. A client that stops
 * reading must not occupy the encoder for much longer. `onPassed` receives the time that the job
 * had.
 */
export const startJobDeadline = (
  { type, deadlineMs, sampleRate = 1 }: DeadlineSpec,
  onPassed: (ms: number) => void,
  { graceMs = 0, time = systemTime }: JobDeadlineOptions = {},
) => {
  const start = time.now();
  const msPerByte = type === "encoder" ? playingMsPerByte(sampleRate) / slowestPace : 0;
  let ms = deadlineMs + graceMs;
  const check = (): void => {
    const left = start + ms - time.now();
    if (left > 0) stopTimer = time.after(left, check);
    else onPassed(ms);
  };
  let stopTimer = time.after(ms, check);
  return {
    /** Extends the deadline of an encoder by the duration of this input. */
    extend: (input: Pick<Buffer, "length">): void => {
      ms += input.length * msPerByte;
    },
    stop: (): void => stopTimer(),
  };
};

/** Returns the playing time of a byte. The samples are s16le, in one channel. */
const playingMsPerByte = (sampleRate: number): number => 1000 / (2 * sampleRate);
