import { Invalid, type Problem } from "../../domain/errors.ts";

/** The parameters that are numbers in every operation. */
export const numbers = new Set(["pitch", "rate", "volume"]);

/**
 * The values of the named parameters: numbers for pitch, rate and volume, else strings. Empty
 * parameters are omitted, because legacy clients send `name=` with every request.
 * @throws {Invalid} for a parameter that is given twice, and for a query that is not
 * percent-encoded UTF-8
 */
export const queryValues = (query: string, names: readonly string[]): Record<string, string | number> => {
  if (!isDecodable(query)) {
    throw new Invalid([{ path: [], message: "The query must be percent-encoded UTF-8." }]);
  }
  const given = new URLSearchParams(query);
  const values: Record<string, string | number> = {};
  const repeated: Problem[] = [];
  for (const name of names) {
    const [value, ...others] = given.getAll(name);
    if (others.length > 0) repeated.push({ path: [name], message: `${name} is given more than once.` });
    if (value === undefined || value === "") continue;
    if (!numbers.has(name)) values[name] = value;
    else if (value !== "null") values[name] = decimal(value);
  }
  if (repeated.length > 0) throw new Invalid(repeated);
  return values;
};

/** URLSearchParams replaces malformed bytes, so that another text would be spoken than was sent. */
const isDecodable = (query: string): boolean => {
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
};

/**
 * Parses a plain decimal. Anything else, such as `0x1` or a blank, becomes NaN, which the schema
 * refuses.
 */
export const decimal = (value: string): number =>
  /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(value) ? Number(value) : Number.NaN;
