const numbers = new Map<string, number>();

/**
 * The key's number in this process, from 0 on, for `PerKey`. It is kept as long as the process
 * runs: ask only for issued keys.
 */
export const keyNumberOf = (apiKey: string): number => {
  const known = numbers.get(apiKey);
  if (known !== undefined) return known;
  const number = numbers.size;
  numbers.set(apiKey, number);
  return number;
};

/** The number of a key that has one. */
export const findKeyNumber = (apiKey: string): number | undefined => numbers.get(apiKey);
