/* Bytes as text. Browsers run this code too, so it uses no Buffer. */

export const toHex = (bytes: Uint8Array): string => {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
};

/**
 * Reads up to the first pair of characters that is not hexadecimal, as Node's `Buffer.from` does.
 */
export const fromHex = (text: string): Uint8Array => {
  const digits = /^(?:[0-9a-f]{2})*/i.exec(text)?.[0] ?? "";
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
};

export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/** Returns undefined if the text is not base64, or `toBase64` writes the bytes differently. */
export const fromBase64 = (text: string): Uint8Array | undefined => {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return toBase64(bytes) === text ? bytes : undefined;
};

export const concatBytes = (...parts: readonly Uint8Array[]): Uint8Array => {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
};

export const equalBytes = (some: Uint8Array, others: Uint8Array): boolean =>
  some.length === others.length && some.every((byte, index) => byte === others[index]);

const encoder = new TextEncoder();

export const utf8 = (text: string): Uint8Array => encoder.encode(text);
