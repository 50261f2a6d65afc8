import { cosineOfTurns, exp, sineOfTurns, tanh } from "../../domain/elementary.ts";
import type { Complex } from "../math/fft-passes.ts";
import { createNoise, type Noise } from "../math/noise.ts";
import { createRealFft } from "../math/real-fft.ts";

export const sampleRate = 24_000;
/** The samples of a frame of the model. */
export const frameSamples = 300;

const windowSamples = 1200;
const bins = windowSamples / 2 + 1;
/** The frames in half a window. A window begins this many frames before the frame at its centre. */
const framesBefore = windowSamples / frameSamples / 2;

/** The model's spectra: `bins` rows of one value per frame; `f0` has one row. */
export interface Spectra {
  /** The harmonics: logarithm of the magnitude, and phase before tanh. */
  readonly lh: Float32Array;
  readonly theta: Float32Array;
  /** Logarithm of the magnitude of the noise. */
  readonly ln: Float32Array;
  /** The rest: logarithm of the magnitude, and phase in radians. */
  readonly lr: Float32Array;
  readonly phi: Float32Array;
  /** The fundamental frequency in Hz. */
  readonly f0: Float32Array;
}

interface WaveformOptions {
  /** The factor for the frequency of the voice. */
  readonly pitch: number;
  readonly seed: number;
}

/**
 * Computes the waveform of the spectra. It is the sum of three parts: pulses with the frequency of
 * the voice, which are filtered by the spectrum of the harmonics; noise; and the rest. Each frame
 * is yielded in the same buffer.
 */
export function* waveform(spectra: Spectra, { pitch, seed }: WaveformOptions): Generator<Float64Array, void> {
  const { f0 } = spectra;
  const frames = f0.length;
  const source = pulses(f0, pitch);
  const noise = createNoise(seed);
  const tables = sharedTables();
  const { fft, analysis, synthesis } = tables;
  const frame = new Float64Array(windowSamples);
  const spectrum: Complex = { re: new Float64Array(bins), im: new Float64Array(bins) };
  /** The sum of the frames so far; the first `frameSamples` values are those of the oldest one. */
  const sum = new Float64Array(windowSamples);
  const weight = new Float64Array(windowSamples);
  const samples = new Float64Array(frameSamples);
  const takeOldest = (): Float64Array => {
    for (let n = 0; n < frameSamples; n++) samples[n] = (sum[n] as number) / (weight[n] as number);
    shift(sum);
    shift(weight);
    return samples;
  };

  for (let t = 0; t < frames; t++) {
    const start = (t - framesBefore) * frameSamples;
    let isVoiced = false;
    for (let n = 0; n < windowSamples; n++) {
      const pulse = mirrored(source, start + n);
      isVoiced ||= pulse !== 0;
      frame[n] = pulse * (analysis[n] as number);
    }
    if (isVoiced) {
      fft.forward(frame, spectrum);
      filterPulses(spectra, t, spectrum);
    } else {
      spectrum.re.fill(0);
      spectrum.im.fill(0);
    }
    addNoise(spectra, t, spectrum, noise);
    addRest(spectra, t, spectrum);
    fft.inverse(spectrum, frame);
    for (let n = 0; n < windowSamples; n++) {
      const window = synthesis[n] as number;
      sum[n] = (sum[n] as number) + (frame[n] as number) * window;
      weight[n] = (weight[n] as number) + window * window;
    }
    if (t >= framesBefore) yield takeOldest();
    else takeOldest();
  }
  for (let t = Math.max(0, frames - framesBefore); t < frames; t++) yield takeOldest();
}

/*
 * These arrays hold the frame that is being computed. Each step is a small loop over arrays: the
 * compiler inlines the functions that it calls, which otherwise allocate their results.
 */
const magnitudes = new Float64Array(bins);
const turns = new Float64Array(bins);
const cosines = new Float64Array(bins);
const sines = new Float64Array(bins);
/** Real and imaginary parts in turn. */
const noises = new Float64Array(2 * bins);

const filterPulses = ({ lh, theta, f0 }: Spectra, t: number, { re, im }: Complex): void => {
  const frames = f0.length;
  takeMagnitudes(lh, t, frames);
  for (let bin = 0; bin < bins; bin++) turns[bin] = tanh(theta[t + frames * bin] as number) / 2;
  takePolar();
  for (let bin = 0; bin < bins; bin++) {
    const sourceRe = re[bin] as number;
    const sourceIm = im[bin] as number;
    const cosine = cosines[bin] as number;
    const sine = sines[bin] as number;
    re[bin] = sourceRe * cosine - sourceIm * sine;
    im[bin] = sourceRe * sine + sourceIm * cosine;
  }
};

const addNoise = ({ ln, f0 }: Spectra, t: number, { re, im }: Complex, noise: Noise): void => {
  takeMagnitudes(ln, t, f0.length);
  noise(noises);
  for (let bin = 0; bin < bins; bin++) {
    const noisy = magnitudes[bin] as number;
    re[bin] = (re[bin] as number) + noisy * (noises[2 * bin] as number);
    im[bin] = (im[bin] as number) + noisy * (noises[2 * bin + 1] as number);
  }
};

const addRest = ({ lr, phi, f0 }: Spectra, t: number, { re, im }: Complex): void => {
  const frames = f0.length;
  takeMagnitudes(lr, t, frames);
  for (let bin = 0; bin < bins; bin++) turns[bin] = (phi[t + frames * bin] as number) / (2 * Math.PI);
  takePolar();
  for (let bin = 0; bin < bins; bin++) {
    re[bin] = (re[bin] as number) + (cosines[bin] as number);
    im[bin] = (im[bin] as number) + (sines[bin] as number);
  }
};

const takeMagnitudes = (logarithms: Float32Array, t: number, frames: number): void => {
  for (let bin = 0; bin < bins; bin++) magnitudes[bin] = magnitude(logarithms[t + frames * bin] as number);
};

/** Computes the real and imaginary parts of `magnitudes` and `turns`. */
const takePolar = (): void => {
  for (let bin = 0; bin < bins; bin++) {
    cosines[bin] = (magnitudes[bin] as number) * cosineOfTurns(turns[bin] as number);
  }
  for (let bin = 0; bin < bins; bin++) {
    sines[bin] = (magnitudes[bin] as number) * sineOfTurns(turns[bin] as number);
  }
};

/** Returns the magnitude. The network has the same limit. */
const magnitude = (logarithm: number): number => exp(logarithm < 7 ? logarithm : 7);

const shift = (values: Float64Array): void => {
  values.copyWithin(0, frameSamples);
  values.fill(0, windowSamples - frameSamples);
};

/**
 * Returns a value of the signal, which is continued by its reflection at its first and last value.
 */
const mirrored = (signal: Float64Array, at: number): number => {
  const last = signal.length - 1;
  const inside = at < 0 ? -at : at > last ? 2 * last - at : at;
  return signal[inside] ?? 0;
};

/** A frame with a lower frequency is unvoiced. */
const minHz = 40;
const maxHz = 11_000;

/**
 * Pulses that repeat with the frequency: the sum of all its harmonics below `maxHz`, each with
 * amplitude 1.
 */
const pulses = (f0: Float32Array, pitch: number): Float64Array => {
  const signal = new Float64Array(f0.length * frameSamples);
  /** The phase in turns. */
  let phase = 0;
  for (let n = 0; n < signal.length; n++) {
    const own = between(f0, (n + 0.5) / frameSamples - 0.5);
    const hz = (own > minHz ? own : minHz) * pitch;
    phase += hz / sampleRate;
    phase -= Math.floor(phase);
    if (own > minHz) signal[n] = harmonics(phase, Math.floor(maxHz / hz));
  }
  return signal;
};

/** The sum of cos(2π · h · turns) for h from 1 to `count`. */
const harmonics = (turns: number, count: number): number => {
  const divisor = 2 * sineOfTurns(turns / 2);
  const quotient = Math.abs(divisor) > 2e-3 ? sineOfTurns((count + 0.5) * turns) / divisor : count + 0.5;
  return quotient - 0.5;
};

/** Interpolates linearly. The first and the last value continue at the ends. */
const between = (values: Float32Array, position: number): number => {
  const before = Math.floor(position);
  const part = position - before;
  const last = values.length - 1;
  const a = values[Math.max(0, before)] as number;
  const b = values[Math.min(last, before + 1)] as number;
  return a * (1 - part) + b * part;
};

const createTables = () => {
  const hann = Float64Array.from(
    { length: windowSamples },
    (_, n) => 0.5 - 0.5 * cosineOfTurns(n / windowSamples),
  );
  return {
    fft: createRealFft(windowSamples),
    /** A harmonic of amplitude 1 has the magnitude 1 in the spectrum. */
    analysis: hann.map((value) => value / (windowSamples / 4)),
    synthesis: hann,
  };
};

let tables: ReturnType<typeof createTables> | undefined;
const sharedTables = (): ReturnType<typeof createTables> => {
  tables ??= createTables();
  return tables;
};
