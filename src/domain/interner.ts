/**
 * Creates a function that returns the first of equal values each time, so that they take memory
 * once. When it has `max` values, it forgets all.
 */
export const createInterner = <T>(nameOf: (value: T) => string, max = 10_000) => {
  const values = new Map<string, T>();
  return (value: T): T => {
    const name = nameOf(value);
    const known = values.get(name);
    if (known !== undefined) return known;
    if (values.size >= max) values.clear();
    values.set(name, value);
    return value;
  };
};
