import { createRealFft } from "../../../src/natural/math/real-fft.ts";
import type { Sound } from "../local-voice.ts";

const hopSeconds = 0.005;
const windowSeconds = 0.025;

/**
 * Returns a function that finds, for a time in one voice's speech, the time of the same sound in
 * another voice's speech of the same words, in seconds. It uses dynamic time warping of their
 * spectra, and nothing that the voices report.
 */
export const alignSpeech = (from: Sound, to: Sound): ((seconds: number) => number) => {
  const [one, other] = [audiblePart(from), audiblePart(to)];
  const places = warp(featuresOf(one.sound), featuresOf(other.sound));
  return (seconds) => {
    const at = Math.min(places.length - 1, Math.max(0, Math.round((seconds - one.start) / hopSeconds)));
    return other.start + (places[at] ?? 0) * hopSeconds;
  };
};

/** Cuts off the silence at both ends. */
const audiblePart = ({ samples, sampleRate }: Sound) => {
  const audible = 0.01 * samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const isAudible = (sample: number): boolean => Math.abs(sample) > audible;
  const [first, last] = [samples.findIndex(isAudible), samples.findLastIndex(isAudible)];
  return { start: first / sampleRate, sound: { samples: samples.subarray(first, last + 1), sampleRate } };
};

const bands = 24;
const lowestHz = 100;
const highestHz = 7500;

const mel = (hz: number): number => 2595 * Math.log10(1 + hz / 700);

/** The level of each band and its change at each step, both relative to the whole speech. */
const featuresOf = ({ samples, sampleRate }: Sound): Float64Array[] => {
  const size = windowSizes.find((one) => one >= windowSeconds * sampleRate) ?? 600;
  const fft = createRealFft(size);
  const [re, im] = [new Float64Array(size / 2 + 1), new Float64Array(size / 2 + 1)];
  const bandOf = Array.from(re, (_, bin) => {
    const hz = (bin * sampleRate) / size;
    const part = (mel(hz) - mel(lowestHz)) / (mel(highestHz) - mel(lowestHz));
    return part < 0 || part >= 1 ? -1 : Math.floor(part * bands);
  });
  const frame = new Float64Array(size);
  const levels: Float64Array[] = [];
  const steps = Math.ceil(samples.length / sampleRate / hopSeconds);
  for (let step = 0; step < steps; step++) {
    const start = Math.round(step * hopSeconds * sampleRate - size / 2);
    for (let n = 0; n < size; n++)
      frame[n] = (samples[start + n] ?? 0) * (0.5 - 0.5 * Math.cos((2 * Math.PI * n) / size));
    fft.forward(frame, { re, im });
    const energies = new Float64Array(bands);
    bandOf.forEach((band, bin) => {
      if (band >= 0) energies[band] = (energies[band] ?? 0) + (re[bin] ?? 0) ** 2 + (im[bin] ?? 0) ** 2;
    });
    levels.push(energies.map((energy) => Math.log(energy + 1e6)));
  }
  return normalised(levels);
};

/** The sizes of a transform that takes 25 ms at the usual rates. */
const windowSizes = [400, 576, 600];

const normalised = (levels: readonly Float64Array[]): Float64Array[] => {
  const features = levels.map((level, step) => {
    const [before, after] = [levels[Math.max(0, step - 4)], levels[Math.min(levels.length - 1, step + 4)]];
    return Float64Array.from({ length: 2 * bands }, (_, at) =>
      at < bands ? (level[at] ?? 0) : (after?.[at - bands] ?? 0) - (before?.[at - bands] ?? 0),
    );
  });
  for (let at = 0; at < 2 * bands; at++) {
    const values = features.map((one) => one[at] ?? 0);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
    for (const one of features) one[at] = ((one[at] ?? 0) - mean) / (deviation || 1);
  }
  return features;
};

/**
 * For each step of the first speech, the mean of the steps of the second one that are aligned with
 * it.
 */
const warp = (one: readonly Float64Array[], other: readonly Float64Array[]): number[] => {
  const width = other.length + 1;
  const costs = new Float64Array((one.length + 1) * width).fill(Number.POSITIVE_INFINITY);
  costs[0] = 0;
  const cost = (row: number, column: number): number => costs[row * width + column] ?? Number.NaN;
  for (let row = 1; row <= one.length; row++) {
    for (let column = 1; column < width; column++) {
      const least = Math.min(cost(row - 1, column), cost(row, column - 1), cost(row - 1, column - 1));
      costs[row * width + column] = least + distance(one[row - 1], other[column - 1]);
    }
  }
  const aligned: number[][] = one.map(() => []);
  for (let row = one.length, column = other.length; row > 0 && column > 0; ) {
    aligned[row - 1]?.push(column - 1);
    const diagonal = cost(row - 1, column - 1);
    if (diagonal <= cost(row - 1, column) && diagonal <= cost(row, column - 1))
      [row, column] = [row - 1, column - 1];
    else if (cost(row - 1, column) < cost(row, column - 1)) row--;
    else column--;
  }
  return aligned.map((steps) => steps.reduce((sum, step) => sum + step, 0) / steps.length);
};

const distance = (one: Float64Array | undefined, other: Float64Array | undefined): number => {
  let sum = 0;
  for (let at = 0; at < 2 * bands; at++) sum += ((one?.[at] ?? 0) - (other?.[at] ?? 0)) ** 2;
  return Math.sqrt(sum);
};
