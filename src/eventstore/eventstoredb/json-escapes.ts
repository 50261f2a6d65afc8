import { stringifyObject } from "../event-validation.ts";

declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as the given text (https://tc39.es/proposal-json-parse-with-source). */
    rawJSON(text: string): object;
  }
}

/**
 * JSON may hold U+2028 and U+2029 as they are, ECMAScript before 2019 may not: a server's projections fault for good on
 * such an event (measured on EventStoreDB 24.2 and KurrentDB 26.0).
 */
const lineSeparators = /[\u2028\u2029]/;

const escaped = (json: string): string =>
  json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

/** The JSON text of an object, with U+2028 and U+2029 escaped. @throws {TypeError} when it is no plain JSON object */
export const escapedJson = (value: object): string => escaped(stringifyObject(value));

/**
 * The data in a form for which the client's `JSON.stringify` escapes U+2028 and U+2029, and the length of that text.
 * @throws {TypeError} when it is no plain JSON object, or the name of a property holds one of them: only values can be
 * given to `JSON.stringify` in an escaped form
 */
export const escapedData = (data: object): { data: Record<string, unknown>; bytes: number } => {
  const json = stringifyObject(data);
  if (!lineSeparators.test(json))
    return { data: data as Record<string, unknown>, bytes: Buffer.byteLength(json) };
  const rawStrings = JSON.parse(json, (name, value) => {
    if (lineSeparators.test(name)) throw new TypeError("a property's name holds U+2028 or U+2029");
    const isRaw = typeof value === "string" && lineSeparators.test(value);
    return isRaw ? JSON.rawJSON(escaped(JSON.stringify(value))) : value;
  });
  return { data: rawStrings, bytes: Buffer.byteLength(escaped(json)) };
};
