const quote = 0x22;
const backslash = 0x5c;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * The members of a JSON object, parsed when they are asked for: the bytes of a lexicon take a tenth
 * of the memory of its entries.
 */
export interface JsonIndex {
  has(key: string): boolean;
  /** Returns undefined if there is no such member. */
  get(key: string): unknown;
  /** The index of a member that is an object. */
  member(key: string): JsonIndex;
}

/** @throws {SyntaxError} if these bytes do not begin with an object, or it has no end */
export const indexJson = (bytes: Uint8Array, start = 0): JsonIndex => {
  const keys = keysOf(bytes, start);
  const slots = slotsOf(bytes, keys);
  /** The position of the value of a key, or -1. */
  const find = (key: string): number => {
    const wanted = encoder.encode(JSON.stringify(key));
    let slot = hashOf(wanted, 0, wanted.length) & (slots.length - 1);
    for (let at = slots[slot]; at !== undefined && at !== 0; at = slots[slot]) {
      if (startsWith(bytes, wanted, at)) return at + wanted.length + 1;
      slot = (slot + 1) & (slots.length - 1);
    }
    return -1;
  };
  return {
    has: (key) => find(key) >= 0,
    get: (key) => {
      const at = find(key);
      return at < 0 ? undefined : JSON.parse(decoder.decode(bytes.subarray(at, endOfValue(bytes, at))));
    },
    member: (key) => indexJson(bytes, find(key)),
  };
};

/** The positions of the keys of an object without blanks between its members. */
const keysOf = (bytes: Uint8Array, start: number): number[] => {
  if (bytes[start] !== 0x7b) throw new SyntaxError("This is no JSON object.");
  const keys: number[] = [];
  let at = start + 1;
  while (bytes[at] === quote) {
    keys.push(at);
    at = endOfValue(bytes, endOfString(bytes, at) + 1);
    if (bytes[at] === 0x2c) at++;
  }
  if (bytes[at] !== 0x7d) throw new SyntaxError(`This JSON object is cut off at byte ${at}.`);
  return keys;
};

const endOfString = (bytes: Uint8Array, start: number): number => {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at + 1;
};

/** Finds the end of a string, an object, an array, or of a number before a comma or a bracket. */
const endOfValue = (bytes: Uint8Array, start: number): number => {
  let depth = 0;
  for (let at = start; at < bytes.length; ) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (depth === 0 && (byte === 0x2c || byte === 0x7d || byte === 0x5d)) return at;
    else {
      if (byte === 0x7b || byte === 0x5b) depth++;
      if (byte === 0x7d || byte === 0x5d) depth--;
      at++;
    }
    if (depth === 0 && (byte === quote || byte === 0x7d || byte === 0x5d)) return at;
  }
  return bytes.length;
};

/** Builds an open-addressed hash table of positions. A free slot is 0. */
const slotsOf = (bytes: Uint8Array, keys: readonly number[]): Uint32Array => {
  let size = 2;
  while (size < 2 * keys.length) size *= 2;
  const slots = new Uint32Array(size);
  for (const key of keys) {
    let slot = hashOf(bytes, key, endOfString(bytes, key)) & (size - 1);
    while (slots[slot] !== 0) slot = (slot + 1) & (size - 1);
    slots[slot] = key;
  }
  return slots;
};

/** Computes the FNV-1a hash of a range of bytes. */
const hashOf = (bytes: Uint8Array, start: number, end: number): number => {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash >>> 0;
};

const startsWith = (bytes: Uint8Array, wanted: Uint8Array, at: number): boolean => {
  for (let index = 0; index < wanted.length; index++) if (bytes[at + index] !== wanted[index]) return false;
  return true;
};
