import type { AudioFormat } from "../../../domain/synthesis/speech.ts";

/** Measures a whole sound; seconds are `samples / sampleRate`. Undefined if its bytes cannot be read. */
export type MeasureSound = (
  format: AudioFormat,
  bytes: Buffer,
) => { readonly samples: number; readonly sampleRate: number } | undefined;

/** `X-Audio-Duration` of a whole sound, in seconds with three decimals; nothing if it cannot be measured. */
export type AudioDuration = (format: AudioFormat, bytes: Buffer) => Readonly<Record<string, string>>;

/** Measures each buffer once: a sound that stays in memory is sent many times. */
export const createAudioDuration = (measure: MeasureSound): AudioDuration => {
  const measured = new WeakMap<Buffer, Readonly<Record<string, string>>>();
  return (format, bytes) => {
    const known = measured.get(bytes);
    if (known) return known;
    const length = measure(format, bytes);
    const headers = length && { "X-Audio-Duration": (length.samples / length.sampleRate).toFixed(3) };
    measured.set(bytes, headers ?? {});
    return headers ?? {};
  };
};
