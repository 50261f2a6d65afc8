/**
 * Functions whose results are the same in every JavaScript engine, which those of `Math` are not: they only add, multiply,
 * divide and round. Their errors are below 1e-13 of the largest result.
 */

/** The terms of a series, highest power first, as Horner's scheme takes them. */
const inverseFactorials = (powers: readonly number[]): readonly number[] => {
  const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
  return powers.map((power) => 1 / factorial(power));
};

const expTerms = Float64Array.from(inverseFactorials([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]));
const sineTerms = Float64Array.from(inverseFactorials([13, 11, 9, 7, 5, 3, 1]), alternate);
const cosineTerms = Float64Array.from(inverseFactorials([16, 14, 12, 10, 8, 6, 4, 2, 0]), alternate);

function alternate(term: number, index: number): number {
  return index % 2 === 0 ? term : -term;
}

const leastPower = -1022;
const powersOfTwo = (() => {
  const powers = new Float64Array(1023 - leastPower + 1);
  for (let at = -leastPower, power = 1; at < powers.length; at++, power *= 2) powers[at] = power;
  for (let at = -leastPower, power = 1; at >= 0; at--, power /= 2) powers[at] = power;
  return powers;
})();

/** e to the power of `x`; 0 below -708, and that of 709 above it. */
export const exp = (x: number): number => {
  if (x < -708) return 0;
  const bounded = x > 709 ? 709 : x;
  const power = Math.floor(bounded * Math.LOG2E + 0.5);
  // ln 2 in two parts: the first one has so few digits that its product is exact.
  const rest = bounded - power * 0.693359375 + power * 0.00021219444005469057;
  return series(expTerms, rest) * (powersOfTwo[power - leastPower] ?? 0);
};

export const tanh = (x: number): number => {
  const small = exp(-2 * Math.abs(x));
  const result = (1 - small) / (1 + small);
  return x < 0 ? -result : result;
};

/** The sine of an angle in turns: of 2π · `turns`. */
export const sineOfTurns = (turns: number): number => cosineOfTurns(turns - 0.25);

/** The cosine of an angle in turns: of 2π · `turns`. */
export const cosineOfTurns = (turns: number): number => {
  const quarters = 4 * turns;
  const quarter = Math.floor(quarters + 0.5);
  const angle = (quarters - quarter) * (Math.PI / 2);
  const square = angle * angle;
  switch (quarter & 3) {
    case 0:
      return series(cosineTerms, square);
    case 1:
      return -angle * series(sineTerms, square);
    case 2:
      return -series(cosineTerms, square);
    default:
      return angle * series(sineTerms, square);
  }
};

const series = (terms: Float64Array, x: number): number => {
  let sum = 0;
  for (let at = 0; at < terms.length; at++) sum = sum * x + (terms[at] as number);
  return sum;
};
