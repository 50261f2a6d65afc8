/** The value of a JSON text; undefined if it is malformed or truncated. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
