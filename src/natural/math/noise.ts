/** Fills an array with the next values. */
export type Noise = (values: Float64Array) => void;

/** The standard deviation of the sum of four bytes. */
const deviation = Math.sqrt((4 * (256 * 256 - 1)) / 12);
const mean = 4 * 127.5;

/**
 * Creates white noise with mean 0 and variance 1, which is the same for the same seed. A value is
 * the sum of the four bytes of a random number, so it has nearly a normal distribution. The random
 * numbers are those of sfc32 by Chris Doty-Humphrey.
 */
export const createNoise = (seed: number): Noise => {
  let a = seed | 0;
  let b = 0;
  let c = 0;
  let counter = 1;
  const next = (): number => {
    const result = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + result) | 0;
    return result;
  };
  for (let round = 0; round < 15; round++) next();
  return (values) => {
    for (let at = 0; at < values.length; at++) {
      const bytes = next();
      const sum = (bytes & 0xff) + ((bytes >>> 8) & 0xff) + ((bytes >>> 16) & 0xff) + (bytes >>> 24);
      values[at] = (sum - mean) / deviation;
    }
  };
};
