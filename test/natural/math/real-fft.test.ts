import { expect } from "chai";
import { createNoise } from "../../../src/natural/math/noise.ts";
import { createRealFft } from "../../../src/natural/math/real-fft.ts";

const noiseOf = (size: number): Float64Array => Float64Array.from({ length: size }, createNoise(size));

describe("The Fourier transform of real signals", () => {
  for (const size of [2, 8, 12, 30, 1200]) {
    it(`is the sum that defines it, for ${size} samples`, () => {
      const signal = noiseOf(size);
      const re = new Float64Array(size / 2 + 1);
      const im = new Float64Array(size / 2 + 1);
      createRealFft(size).forward(signal, re, im);
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
      const [re, im, back] = [size / 2 + 1, size / 2 + 1, size].map((length) => new Float64Array(length)) as [
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      const fft = createRealFft(size);
      fft.forward(signal, re, im);
      fft.inverse(re, im, back);
      for (const [index, value] of signal.entries()) expect(back[index]).to.be.closeTo(value, 1e-12);
    });
  }

  it("refuses a size that it cannot divide", () => {
    expect(() => createRealFft(14)).to.throw(RangeError);
  });
});
