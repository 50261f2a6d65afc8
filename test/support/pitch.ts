import type { Sound } from "./local-voice.ts";

const range = { lowest: 60, highest: 400 };
const frameSeconds = 0.04;
/**
 * Every second sample is enough for a correlation: speech has little energy above a quarter of the
 * sample rate.
 */
const stride = 2;
/** Frames whose best autocorrelation is lower are unvoiced. */
const voiced = 0.7;
/**
 * A longer lag must correlate better by this much, because every multiple of the true lag
 * correlates as well.
 */
const margin = 0.02;
const quiet = 1000;

/**
 * The median fundamental frequency of the voiced frames, in Hz; undefined when nothing is voiced.
 */
export const medianPitch = ({ samples, sampleRate }: Sound): number | undefined => {
  const frame = Math.round(frameSeconds * sampleRate);
  const energyUpTo = cumulativeEnergy(samples);
  const energyOf = (at: number): number => (energyUpTo[at + frame] ?? 0) - (energyUpTo[at] ?? 0);
  const found: number[] = [];
  // Every second frame is enough for a median.
  for (let at = 0; at + 2 * frame < samples.length; at += 2 * frame) {
    const energy = energyOf(at);
    if (energy < frame * quiet ** 2) continue;
    const best = { correlation: 0, lag: 0 };
    for (let lag = Math.ceil(sampleRate / range.highest); lag <= sampleRate / range.lowest; lag++) {
      const correlation =
        product(samples, at, at + lag, frame) / (Math.sqrt(energy * energyOf(at + lag)) || 1);
      if (correlation > best.correlation + margin) Object.assign(best, { correlation, lag });
    }
    if (best.correlation >= voiced) found.push(sampleRate / best.lag);
  }
  return found.sort((a, b) => a - b)[found.length >> 1];
};

/** Element n: the energy of the first n samples. */
const cumulativeEnergy = (samples: Int16Array): Float64Array => {
  const sums = new Float64Array(samples.length + 1);
  for (let at = 0; at < samples.length; at++) sums[at + 1] = (sums[at] ?? 0) + (samples[at] ?? 0) ** 2;
  return sums;
};

const product = (samples: Int16Array, a: number, b: number, length: number): number => {
  let sum = 0;
  for (let i = 0; i < length; i += stride) sum += (samples[a + i] ?? 0) * (samples[b + i] ?? 0);
  return stride * sum;
};
