/**
 * These functions have the same results in every JavaScript engine, unlike those of `Math`, because
 * they only add, multiply, divide and round. Their errors are below 1e-13 of the largest result.
 */

const minPower = -1022;
const powersOfTwo = (() => {
  const powers = new Float64Array(1023 - minPower + 1);
  for (let at = -minPower, power = 1; at < powers.length; at++, power *= 2) powers[at] = power;
  for (let at = -minPower, power = 1; at >= 0; at--, power /= 2) powers[at] = power;
  return powers;
})();

/** Returns e to the power of `x`; 0 below -708, and e to the power of 709 above 709. */
export const exp = (x: number): number => {
  if (x < -708) return 0;
  const bounded = x > 709 ? 709 : x;
  const power = Math.floor(bounded * Math.LOG2E + 0.5);
  // The two numbers are parts of ln 2. The first one has so few digits that its product with
  // `power` is exact.
  const rest = bounded - power * 0.693359375 + power * 0.00021219444005469057;
  return expSeries(rest) * (powersOfTwo[power - minPower] ?? 0);
};

export const tanh = (x: number): number => {
  const small = exp(-2 * Math.abs(x));
  const result = (1 - small) / (1 + small);
  return x < 0 ? -result : result;
};

/** The sine of 2π · `turns`. */
export const sineOfTurns = (turns: number): number => cosineOfTurns(turns - 0.25);

/** The cosine of 2π · `turns`. */
export const cosineOfTurns = (turns: number): number => {
  const quarters = 4 * turns;
  const quarter = Math.floor(quarters + 0.5);
  const angle = (quarters - quarter) * (Math.PI / 2);
  const square = angle * angle;
  const value = quarter & 1 ? angle * sineSeries(square) : cosineSeries(square);
  return (quarter + 1) & 2 ? -value : value;
};

/** The terms of a series, highest power first, by Horner's scheme. */
const expSeries = (x: number): number => {
  let sum = 1 / 39_916_800;
  sum = sum * x + 1 / 3_628_800;
  sum = sum * x + 1 / 362_880;
  sum = sum * x + 1 / 40_320;
  sum = sum * x + 1 / 5_040;
  sum = sum * x + 1 / 720;
  sum = sum * x + 1 / 120;
  sum = sum * x + 1 / 24;
  sum = sum * x + 1 / 6;
  sum = sum * x + 1 / 2;
  sum = sum * x + 1;
  return sum * x + 1;
};

const sineSeries = (x: number): number => {
  let sum = 1 / 6_227_020_800;
  sum = sum * x - 1 / 39_916_800;
  sum = sum * x + 1 / 362_880;
  sum = sum * x - 1 / 5_040;
  sum = sum * x + 1 / 120;
  sum = sum * x - 1 / 6;
  return sum * x + 1;
};

const cosineSeries = (x: number): number => {
  let sum = 1 / 20_922_789_888_000;
  sum = sum * x - 1 / 87_178_291_200;
  sum = sum * x + 1 / 479_001_600;
  sum = sum * x - 1 / 3_628_800;
  sum = sum * x + 1 / 40_320;
  sum = sum * x - 1 / 720;
  sum = sum * x + 1 / 24;
  sum = sum * x - 1 / 2;
  return sum * x + 1;
};
