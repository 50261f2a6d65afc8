import { expect } from "chai";
import type { Complex } from "../../../src/natural/math/fft-passes.ts";
import { createNoise } from "../../../src/natural/math/noise.ts";
import { createRealFft } from "../../../src/natural/math/real-fft.ts";

const noiseOf = (size: number): Float64Array => {
  const values = new Float64Array(size);
  createNoise(size)(values);
  return values;
};

const spectrumOf = (size: number): Complex => ({
  re: new Float64Array(size / 2 + 1),
  im: new Float64Array(size / 2 + 1),
});

describe("The Fourier transform of real signals", () => {
  for (const size of [2, 8, 12, 30, 1200]) {
    it(`is the sum that defines it, for ${size} samples`, () => {
      const signal = noiseOf(size);
      const spectrum = spectrumOf(size);
      const { re, im } = spectrum;
      createRealFft(size).forward(signal, spectrum);
      for (let k = 0; k <= size / 2; k++) {
        const turn = (n: number) => (-2 * Math.PI * ((k * n) % size)) / size;
        expect(re[k]).to.be.closeTo(
          signal.reduce((sum, x, n) => sum + x * Math.cos(turn(n)), 0),
          1e-9,
        );
        expect(im[k]).to.be.closeTo(
          signal.reduce((sum, x, n) => sum + x * Math.sin(turn(n)), 0),
          1e-9,
        );
      }
    });

    it(`is reversed by its inverse, for ${size} samples`, () => {
      const signal = noiseOf(size);
      const spectrum = spectrumOf(size);
      const back = new Float64Array(size);
      const fft = createRealFft(size);
      fft.forward(signal, spectrum);
      fft.inverse(spectrum, back);
      for (const [index, value] of signal.entries()) expect(back[index]).to.be.closeTo(value, 1e-12);
    });
  }

  it("refuses a size that it cannot divide", () => {
    expect(() => createRealFft(14)).to.throw(RangeError);
  });
});
