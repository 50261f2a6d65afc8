import { cosineOfTurns, sineOfTurns } from "../../domain/elementary.ts";

/** The transform of real signals of one size, with its tables and working memory. */
export interface RealFft {
  readonly size: number;
  /** Of `real`, which has `size` values, to the `size` / 2 + 1 values of `re` and `im`. */
  forward(real: Float64Array, re: Float64Array, im: Float64Array): void;
  /** The inverse of `forward`, with its factor of 1 / `size`. */
  inverse(re: Float64Array, im: Float64Array, real: Float64Array): void;
}

/** @throws {RangeError} `size` is not twice a product of 2, 3, 4 and 5 */
export const createRealFft = (size: number): RealFft => {
  const half = size / 2;
  const transform = createComplexFft(half);
  /** e^(-2πi·k / size) */
  const cosines = Float64Array.from({ length: half + 1 }, (_, k) => cosineOfTurns(k / size));
  const sines = Float64Array.from({ length: half + 1 }, (_, k) => -sineOfTurns(k / size));
  const zRe = new Float64Array(half);
  const zIm = new Float64Array(half);

  return {
    size,
    forward: (real, re, im) => {
      // The even samples are the real parts of a complex signal of half the size, the odd ones its imaginary parts.
      for (let k = 0; k < half; k++) {
        zRe[k] = real[2 * k] as number;
        zIm[k] = real[2 * k + 1] as number;
      }
      transform(zRe, zIm);
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
    inverse: (re, im, real) => {
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
        // Conjugated, because the forward transform of a conjugate is the conjugate of the inverse one.
        zRe[k] = evenRe - oddIm;
        zIm[k] = -(evenIm + oddRe);
      }
      transform(zRe, zIm);
      for (let k = 0; k < half; k++) {
        real[2 * k] = (zRe[k] as number) / half;
        real[2 * k + 1] = -(zIm[k] as number) / half;
      }
    },
  };
};

/** Transforms in place, without a factor: Stockham's algorithm, a pass for each factor of the size. */
const createComplexFft = (size: number): ((re: Float64Array, im: Float64Array) => void) => {
  const radices = factors(size);
  const cosines = Float64Array.from({ length: size }, (_, k) => cosineOfTurns(k / size));
  const sines = Float64Array.from({ length: size }, (_, k) => -sineOfTurns(k / size));
  const otherRe = new Float64Array(size);
  const otherIm = new Float64Array(size);
  const partRe = new Float64Array(5);
  const partIm = new Float64Array(5);

  /**
   * Joins `radix` transforms of a length each into one. `groups` of them lie side by side: value k of group g is at
   * g + groups · k.
   */
  const pass = (
    from: { readonly re: Float64Array; readonly im: Float64Array },
    to: { readonly re: Float64Array; readonly im: Float64Array },
    radix: number,
    length: number,
  ): void => {
    const groups = size / (radix * length);
    for (let k = 0; k < length; k++) {
      for (let group = 0; group < groups; group++) {
        for (let part = 0; part < radix; part++) {
          const at = group + groups * (part + radix * k);
          const turn = part * k * groups;
          const re = from.re[at] as number;
          const im = from.im[at] as number;
          const cosine = cosines[turn] as number;
          const sine = sines[turn] as number;
          partRe[part] = re * cosine - im * sine;
          partIm[part] = re * sine + im * cosine;
        }
        for (let out = 0; out < radix; out++) {
          let re = partRe[0] as number;
          let im = partIm[0] as number;
          for (let part = 1; part < radix; part++) {
            const turn = ((part * out) % radix) * (size / radix);
            const cosine = cosines[turn] as number;
            const sine = sines[turn] as number;
            re += (partRe[part] as number) * cosine - (partIm[part] as number) * sine;
            im += (partRe[part] as number) * sine + (partIm[part] as number) * cosine;
          }
          const at = group + groups * (k + length * out);
          to.re[at] = re;
          to.im[at] = im;
        }
      }
    }
  };

  return (re, im) => {
    let from = { re, im };
    let to: typeof from = { re: otherRe, im: otherIm };
    let length = 1;
    for (const radix of radices) {
      pass(from, to, radix, length);
      length *= radix;
      [from, to] = [to, from];
    }
    if (from.re !== re) {
      re.set(from.re);
      im.set(from.im);
    }
  };
};

const factors = (size: number): readonly number[] => {
  const radix = [5, 4, 3, 2].find((one) => size % one === 0);
  if (size === 1) return [];
  if (radix === undefined) throw new RangeError(`No transform of size ${size}.`);
  return [radix, ...factors(size / radix)];
};
