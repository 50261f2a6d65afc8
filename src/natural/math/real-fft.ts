import { cosineOfTurns, sineOfTurns } from "../../domain/elementary.ts";
import { type Complex, createPass, type Radix } from "./fft-passes.ts";

/** The transform of real signals of one size, with its tables and working memory. */
interface RealFft {
  readonly size: number;
  /** Transforms `real`, which has `size` values, to the `size` / 2 + 1 values of `spectrum`. */
  forward(real: Float64Array, spectrum: Complex): void;
  /** The inverse of `forward`, with its factor of 1 / `size`. */
  inverse(spectrum: Complex, real: Float64Array): void;
}

/** @throws {RangeError} if `size` is not twice a product of 2, 3, 4 and 5 */
export const createRealFft = (size: number): RealFft => {
  const half = size / 2;
  const transform = createComplexFft(half);
  /** e^(-2πi·k / size) */
  const cosines = Float64Array.from({ length: half + 1 }, (_, k) => cosineOfTurns(k / size));
  const sines = Float64Array.from({ length: half + 1 }, (_, k) => -sineOfTurns(k / size));
  const zRe = new Float64Array(half);
  const zIm = new Float64Array(half);
  const z: Complex = { re: zRe, im: zIm };

  return {
    size,
    forward: (real, { re, im }) => {
      // The even samples are the real parts of a complex signal of half the size, the odd ones its
      // imaginary parts.
      for (let k = 0; k < half; k++) {
        zRe[k] = real[2 * k] as number;
        zIm[k] = real[2 * k + 1] as number;
      }
      transform(z);
      for (let k = 0; k <= half; k++) {
        const a = k === half ? 0 : k;
        const b = k === 0 ? 0 : half - k;
        const evenRe = ((zRe[a] as number) + (zRe[b] as number)) / 2;
        const evenIm = ((zIm[a] as number) - (zIm[b] as number)) / 2;
        const oddRe = ((zIm[a] as number) + (zIm[b] as number)) / 2;
        const oddIm = ((zRe[b] as number) - (zRe[a] as number)) / 2;
        const cosine = cosines[k] as number;
        const sine = sines[k] as number;
        re[k] = evenRe + oddRe * cosine - oddIm * sine;
        im[k] = evenIm + oddRe * sine + oddIm * cosine;
      }
    },
    inverse: ({ re, im }, real) => {
      for (let k = 0; k < half; k++) {
        // The first and the last value of a real signal's transform are real.
        const aRe = re[k] as number;
        const aIm = k === 0 ? 0 : (im[k] as number);
        const bRe = re[half - k] as number;
        const bIm = k === 0 ? 0 : (im[half - k] as number);
        const evenRe = (aRe + bRe) / 2;
        const evenIm = (aIm - bIm) / 2;
        const turnedRe = (aRe - bRe) / 2;
        const turnedIm = (aIm + bIm) / 2;
        const cosine = cosines[k] as number;
        const sine = sines[k] as number;
        const oddRe = turnedRe * cosine + turnedIm * sine;
        const oddIm = turnedIm * cosine - turnedRe * sine;
        // The values are conjugated, because the forward transform of a conjugate is the conjugate
        // of the inverse transform.
        zRe[k] = evenRe - oddIm;
        zIm[k] = -(evenIm + oddRe);
      }
      transform(z);
      for (let k = 0; k < half; k++) {
        real[2 * k] = (zRe[k] as number) / half;
        real[2 * k + 1] = -(zIm[k] as number) / half;
      }
    },
  };
};

/**
 * Transforms in place, without a factor: Stockham's algorithm, a pass for each factor of the size.
 */
const createComplexFft = (size: number): ((values: Complex) => void) => {
  let length = 1;
  const passes = factors(size).map((radix) => {
    const pass = createPass(size, radix, length);
    length *= radix;
    return pass;
  });
  const other: Complex = { re: new Float64Array(size), im: new Float64Array(size) };

  return (values) => {
    let [from, to] = [values, other];
    for (const pass of passes) {
      pass(from, to);
      [from, to] = [to, from];
    }
    if (from === values) return;
    values.re.set(from.re);
    values.im.set(from.im);
  };
};

const factors = (size: number): readonly Radix[] => {
  const radix = ([5, 4, 3, 2] as const).find((one) => size % one === 0);
  if (size === 1) return [];
  if (radix === undefined) throw new RangeError(`No transform of size ${size}.`);
  return [radix, ...factors(size / radix)];
};
