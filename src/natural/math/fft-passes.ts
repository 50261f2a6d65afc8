import { cosineOfTurns, sineOfTurns } from "../../domain/elementary.ts";

export interface Complex {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** A pass of Stockham's algorithm. */
type Pass = (from: Complex, to: Complex) => void;

interface Joint {
  /** The number of values of each of the joined transforms. */
  readonly length: number;
  readonly groups: number;
  /** The factor of part p of value k at radix · k + p. */
  readonly turns: Complex;
}

/**
 * Joins transforms of `length` values into one; their number is the radix. `size` / (radix ·
 * `length`) groups of them lie side by side: value k of group g is at g + groups · k. The samples
 * of voices depend on the order of the operations, so it must not change.
 */
export const createPass = (size: number, radix: Radix, length: number): Pass => {
  const groups = size / (radix * length);
  const partAt = (at: number): number => (at % radix) * Math.floor(at / radix);
  const turns = complexTable(radix * length, (at) => (partAt(at) * groups) / size);
  return joins[radix]({ length, groups, turns });
};

/** e^(-2πi · turns) */
const complexTable = (size: number, turnsAt: (at: number) => number): Complex => {
  const turns = Float64Array.from({ length: size }, (_, at) => turnsAt(at));
  return { re: turns.map((one) => cosineOfTurns(one)), im: turns.map((one) => -sineOfTurns(one)) };
};

/*
 * Each radix has its own loop without inner ones, which takes a fifth of the time of a loop for
 * all.
 */

const join2 = ({ length, groups, turns }: Joint): Pass => {
  const { re: cosines, im: sines } = turns;
  const step = groups * length;
  return ({ re: fromRe, im: fromIm }, { re: toRe, im: toIm }) => {
    for (let k = 0; k < length; k++) {
      const cos1 = cosines[2 * k + 1] as number;
      const sin1 = sines[2 * k + 1] as number;
      for (let group = 0; group < groups; group++) {
        const at0 = group + 2 * groups * k;
        const at1 = at0 + groups;
        const re0 = fromRe[at0] as number;
        const im0 = fromIm[at0] as number;
        const re1 = (fromRe[at1] as number) * cos1 - (fromIm[at1] as number) * sin1;
        const im1 = (fromRe[at1] as number) * sin1 + (fromIm[at1] as number) * cos1;
        const to = group + groups * k;
        toRe[to] = re0 + re1;
        toIm[to] = im0 + im1;
        toRe[to + step] = re0 - re1;
        toIm[to + step] = im0 - im1;
      }
    }
  };
};

const join3 = ({ length, groups, turns }: Joint): Pass => {
  const { re: cosines, im: sines } = turns;
  const step = groups * length;
  const roots = complexTable(3, (at) => at / 3);
  const [, c1 = 0, c2 = 0] = roots.re;
  const [, s1 = 0, s2 = 0] = roots.im;
  return ({ re: fromRe, im: fromIm }, { re: toRe, im: toIm }) => {
    for (let k = 0; k < length; k++) {
      const cos1 = cosines[3 * k + 1] as number;
      const sin1 = sines[3 * k + 1] as number;
      const cos2 = cosines[3 * k + 2] as number;
      const sin2 = sines[3 * k + 2] as number;
      for (let group = 0; group < groups; group++) {
        const at0 = group + 3 * groups * k;
        const at1 = at0 + groups;
        const at2 = at1 + groups;
        const re0 = fromRe[at0] as number;
        const im0 = fromIm[at0] as number;
        const re1 = (fromRe[at1] as number) * cos1 - (fromIm[at1] as number) * sin1;
        const im1 = (fromRe[at1] as number) * sin1 + (fromIm[at1] as number) * cos1;
        const re2 = (fromRe[at2] as number) * cos2 - (fromIm[at2] as number) * sin2;
        const im2 = (fromRe[at2] as number) * sin2 + (fromIm[at2] as number) * cos2;
        const to = group + groups * k;
        toRe[to] = re0 + re1 + re2;
        toIm[to] = im0 + im1 + im2;
        toRe[to + step] = re0 + (re1 * c1 - im1 * s1) + (re2 * c2 - im2 * s2);
        toIm[to + step] = im0 + (re1 * s1 + im1 * c1) + (re2 * s2 + im2 * c2);
        toRe[to + 2 * step] = re0 + (re1 * c2 - im1 * s2) + (re2 * c1 - im2 * s1);
        toIm[to + 2 * step] = im0 + (re1 * s2 + im1 * c2) + (re2 * s1 + im2 * c1);
      }
    }
  };
};

const join4 = ({ length, groups, turns }: Joint): Pass => {
  const { re: cosines, im: sines } = turns;
  const step = groups * length;
  return ({ re: fromRe, im: fromIm }, { re: toRe, im: toIm }) => {
    for (let k = 0; k < length; k++) {
      const cos1 = cosines[4 * k + 1] as number;
      const sin1 = sines[4 * k + 1] as number;
      const cos2 = cosines[4 * k + 2] as number;
      const sin2 = sines[4 * k + 2] as number;
      const cos3 = cosines[4 * k + 3] as number;
      const sin3 = sines[4 * k + 3] as number;
      for (let group = 0; group < groups; group++) {
        const at0 = group + 4 * groups * k;
        const at1 = at0 + groups;
        const at2 = at1 + groups;
        const at3 = at2 + groups;
        const re0 = fromRe[at0] as number;
        const im0 = fromIm[at0] as number;
        const re1 = (fromRe[at1] as number) * cos1 - (fromIm[at1] as number) * sin1;
        const im1 = (fromRe[at1] as number) * sin1 + (fromIm[at1] as number) * cos1;
        const re2 = (fromRe[at2] as number) * cos2 - (fromIm[at2] as number) * sin2;
        const im2 = (fromRe[at2] as number) * sin2 + (fromIm[at2] as number) * cos2;
        const re3 = (fromRe[at3] as number) * cos3 - (fromIm[at3] as number) * sin3;
        const im3 = (fromRe[at3] as number) * sin3 + (fromIm[at3] as number) * cos3;
        const to = group + groups * k;
        toRe[to] = re0 + re1 + re2 + re3;
        toIm[to] = im0 + im1 + im2 + im3;
        toRe[to + step] = re0 + im1 - re2 - im3;
        toIm[to + step] = im0 - re1 - im2 + re3;
        toRe[to + 2 * step] = re0 - re1 + re2 - re3;
        toIm[to + 2 * step] = im0 - im1 + im2 - im3;
        toRe[to + 3 * step] = re0 - im1 - re2 + im3;
        toIm[to + 3 * step] = im0 + re1 - im2 - re3;
      }
    }
  };
};

const join5 = ({ length, groups, turns }: Joint): Pass => {
  const { re: cosines, im: sines } = turns;
  const step = groups * length;
  const roots = complexTable(5, (at) => at / 5);
  const [, c1 = 0, c2 = 0, c3 = 0, c4 = 0] = roots.re;
  const [, s1 = 0, s2 = 0, s3 = 0, s4 = 0] = roots.im;
  return ({ re: fromRe, im: fromIm }, { re: toRe, im: toIm }) => {
    for (let k = 0; k < length; k++) {
      const cos1 = cosines[5 * k + 1] as number;
      const sin1 = sines[5 * k + 1] as number;
      const cos2 = cosines[5 * k + 2] as number;
      const sin2 = sines[5 * k + 2] as number;
      const cos3 = cosines[5 * k + 3] as number;
      const sin3 = sines[5 * k + 3] as number;
      const cos4 = cosines[5 * k + 4] as number;
      const sin4 = sines[5 * k + 4] as number;
      for (let group = 0; group < groups; group++) {
        const at0 = group + 5 * groups * k;
        const at1 = at0 + groups;
        const at2 = at1 + groups;
        const at3 = at2 + groups;
        const at4 = at3 + groups;
        const re0 = fromRe[at0] as number;
        const im0 = fromIm[at0] as number;
        const re1 = (fromRe[at1] as number) * cos1 - (fromIm[at1] as number) * sin1;
        const im1 = (fromRe[at1] as number) * sin1 + (fromIm[at1] as number) * cos1;
        const re2 = (fromRe[at2] as number) * cos2 - (fromIm[at2] as number) * sin2;
        const im2 = (fromRe[at2] as number) * sin2 + (fromIm[at2] as number) * cos2;
        const re3 = (fromRe[at3] as number) * cos3 - (fromIm[at3] as number) * sin3;
        const im3 = (fromRe[at3] as number) * sin3 + (fromIm[at3] as number) * cos3;
        const re4 = (fromRe[at4] as number) * cos4 - (fromIm[at4] as number) * sin4;
        const im4 = (fromRe[at4] as number) * sin4 + (fromIm[at4] as number) * cos4;
        const to = group + groups * k;
        toRe[to] = re0 + re1 + re2 + re3 + re4;
        toIm[to] = im0 + im1 + im2 + im3 + im4;
        toRe[to + step] =
          re0 + (re1 * c1 - im1 * s1) + (re2 * c2 - im2 * s2) + (re3 * c3 - im3 * s3) + (re4 * c4 - im4 * s4);
        toIm[to + step] =
          im0 + (re1 * s1 + im1 * c1) + (re2 * s2 + im2 * c2) + (re3 * s3 + im3 * c3) + (re4 * s4 + im4 * c4);
        toRe[to + 2 * step] =
          re0 + (re1 * c2 - im1 * s2) + (re2 * c4 - im2 * s4) + (re3 * c1 - im3 * s1) + (re4 * c3 - im4 * s3);
        toIm[to + 2 * step] =
          im0 + (re1 * s2 + im1 * c2) + (re2 * s4 + im2 * c4) + (re3 * s1 + im3 * c1) + (re4 * s3 + im4 * c3);
        toRe[to + 3 * step] =
          re0 + (re1 * c3 - im1 * s3) + (re2 * c1 - im2 * s1) + (re3 * c4 - im3 * s4) + (re4 * c2 - im4 * s2);
        toIm[to + 3 * step] =
          im0 + (re1 * s3 + im1 * c3) + (re2 * s1 + im2 * c1) + (re3 * s4 + im3 * c4) + (re4 * s2 + im4 * c2);
        toRe[to + 4 * step] =
          re0 + (re1 * c4 - im1 * s4) + (re2 * c3 - im2 * s3) + (re3 * c2 - im3 * s2) + (re4 * c1 - im4 * s1);
        toIm[to + 4 * step] =
          im0 + (re1 * s4 + im1 * c4) + (re2 * s3 + im2 * c3) + (re3 * s2 + im3 * c2) + (re4 * s1 + im4 * c1);
      }
    }
  };
};

const joins = { 2: join2, 3: join3, 4: join4, 5: join5 };
export type Radix = keyof typeof joins;
