import type { Sound } from "./local-voice.ts";

const range = { lowest: 60, highest: 400 };
const frameSeconds = 0.04;
/** Frames whose best autocorrelation is lower are unvoiced. */
const voiced = 0.7;
/** A longer lag must be better by this factor: every multiple of the true lag correlates as well. */
const margin = 0.02;
const quiet = 1000;

/** The median fundamental frequency of the voiced frames, in Hz; undefined when nothing is voiced. */
export const medianPitch = ({ samples, sampleRate }: Sound): number | undefined => {
  const frame = Math.round(frameSeconds * sampleRate);
  const found: number[] = [];
  for (let at = 0; at + 2 * frame < samples.length; at += frame) {
    const pitch = framePitch(samples, at, frame, sampleRate);
    if (pitch !== undefined) found.push(pitch);
  }
  return found.sort((a, b) => a - b)[found.length >> 1];
};

const framePitch = (samples: Int16Array, at: number, frame: number, rate: number): number | undefined => {
  const energy = product(samples, at, at, frame);
  if (energy < frame * quiet ** 2) return undefined;
  let best = { correlation: 0, lag: 0 };
  for (let lag = Math.ceil(rate / range.highest); lag <= rate / range.lowest; lag++) {
    const energies = Math.sqrt(energy * product(samples, at + lag, at + lag, frame));
    const correlation = product(samples, at, at + lag, frame) / (energies || 1);
    if (correlation > best.correlation + margin) best = { correlation, lag };
  }
  return best.correlation >= voiced ? rate / best.lag : undefined;
};

const product = (samples: Int16Array, a: number, b: number, length: number): number => {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += (samples[a + i] ?? 0) * (samples[b + i] ?? 0);
  return sum;
};
