import { createHash } from "node:crypto";
import { expect } from "chai";
import { type Spectra, sampleRate, waveform } from "../../../src/natural/hibari/waveform.ts";

const bins = 601;
const silent = -100;

type Rows = Record<keyof Spectra, (bin: number, frame: number) => number>;

/** Spectra that have only pulses of 100 Hz by default. */
const spectra = (frames: number, rows: Partial<Rows> = {}): Spectra => {
  const all: Rows = {
    ...{ lh: () => 0, theta: () => 0, ln: () => silent, lr: () => silent, phi: () => 0, f0: () => 100 },
    ...rows,
  };
  const filled = (name: keyof Rows, height: number): Float32Array =>
    Float32Array.from({ length: height * frames }, (_, at) =>
      all[name](Math.floor(at / frames), at % frames),
    );
  return {
    lh: filled("lh", bins),
    theta: filled("theta", bins),
    ln: filled("ln", bins),
    lr: filled("lr", bins),
    phi: filled("phi", bins),
    f0: filled("f0", 1),
  };
};

/** The generator's buffer is the same for each frame. */
const samplesOf = (of: Spectra, { pitch = 1, seed = 1 } = {}): number[] => {
  const samples: number[] = [];
  for (const frame of waveform(of, { pitch, seed })) samples.push(...frame);
  return samples;
};

/** Where samples exceed half of the largest one. */
const peaks = (samples: readonly number[]): number[] => {
  const half = Math.max(...samples) / 2;
  return [...samples.keys()].filter(
    (at) =>
      (samples[at] ?? 0) > half &&
      (samples[at] ?? 0) >= (samples[at - 1] ?? 0) &&
      (samples[at] ?? 0) > (samples[at + 1] ?? 0),
  );
};

const distances = (values: readonly number[]): number[] =>
  values.slice(1).map((value, index) => value - (values[index] ?? 0));

const rms = (samples: readonly number[]): number =>
  Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);

describe("The waveform of a natural voice", () => {
  it("has 300 samples for each frame of the model", () => {
    for (const frames of [1, 2, 3, 40]) expect(samplesOf(spectra(frames))).to.have.length(300 * frames);
    expect(samplesOf(spectra(0))).to.deep.equal([]);
  });

  it("repeats with the frequency of the voice", () => {
    expect(new Set(distances(peaks(samplesOf(spectra(20)))))).to.deep.equal(new Set([sampleRate / 100]));
  });

  it("repeats with another frequency when the pitch is changed, at the same tempo", () => {
    const samples = samplesOf(spectra(20), { pitch: 2 });
    expect(samples).to.have.length(6000);
    expect(new Set(distances(peaks(samples)))).to.deep.equal(new Set([sampleRate / 200]));
  });

  it("has no pulses where the voice has no frequency", () => {
    expect(rms(samplesOf(spectra(20, { f0: () => 0 })))).to.be.below(1e-40);
  });

  it("has noise with the magnitude that the model gives it", () => {
    const noise = (ln: number) => samplesOf(spectra(40, { f0: () => 0, ln: () => ln }));
    expect(rms(noise(Math.log(2))) / rms(noise(0))).to.be.closeTo(2, 1e-6);
    expect(noise(0)).to.deep.equal(noise(0));
  });

  it("bounds what a broken model may ask for", () => {
    const loud = samplesOf(spectra(4, { lr: () => 1000, theta: () => Number.POSITIVE_INFINITY }));
    expect(loud.every(Number.isFinite)).to.equal(true);
  });

  it("is the same to the last bit in every version and on every machine", () => {
    // Quotients of small integers: the inputs are exact.
    const fraction = (bin: number, frame: number) => ((bin * 7 + frame * 3) % 16) / 4 - 2;
    const samples = samplesOf(
      spectra(12, {
        ...{ lh: fraction, theta: fraction, phi: fraction, ln: (bin, frame) => fraction(bin, frame) - 2 },
        ...{ lr: (bin, frame) => fraction(frame, bin) - 3, f0: (_, frame) => 150 + 4 * frame },
      }),
    );
    const digest = createHash("sha256").update(Float64Array.from(samples)).digest("hex");
    expect(digest).to.equal("c253082a7d89452a1b692cf1c46b3b014e1b4cf93c3335696d1ad9d6eb33deca");
  });
});
