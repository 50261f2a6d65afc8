/*
 * The part of `node:crypto` that the ledger's rules use, for browsers: the bundle resolves that
 * module to this one. The rules are synchronous, and WebCrypto is not, so this is SHA-256 (FIPS
 * 180-4) in script.
 */

const primes: readonly number[] = (() => {
  const found: number[] = [];
  for (let number = 2; found.length < 64; number++) {
    if (found.every((prime) => number % prime !== 0)) found.push(number);
  }
  return found;
})();

/** The first 32 bits of the fractional part. */
const fraction = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) | 0;

const initial = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const constants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));

const blockBytes = 64;

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

/** Adds one block to the state. */
const compress = (state: Int32Array, words: Int32Array, view: DataView, offset: number): void => {
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(offset + 4 * i);
  for (let i = 16; i < 64; i++) {
    const early = words[i - 15] as number;
    const late = words[i - 2] as number;
    const small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words[i] = ((words[i - 16] as number) + small0 + (words[i - 7] as number) + small1) | 0;
  }
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  let f = state[5] as number;
  let g = state[6] as number;
  let h = state[7] as number;
  for (let i = 0; i < 64; i++) {
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + big1 + choice + (constants[i] as number) + (words[i] as number)) | 0;
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + big0 + majority) | 0;
  }
  // No array is created, because this runs for every 64 bytes.
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
  state[4] = (state[4] as number) + e;
  state[5] = (state[5] as number) + f;
  state[6] = (state[6] as number) + g;
  state[7] = (state[7] as number) + h;
};

const encoder = new TextEncoder();
const bytesOf = (data: string | Uint8Array): Uint8Array =>
  typeof data === "string" ? encoder.encode(data) : data;

const hexOf = (bytes: Uint8Array): string => {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
};

class Sha256 {
  readonly #state = Int32Array.from(initial);
  readonly #words = new Int32Array(64);
  readonly #block = new Uint8Array(blockBytes);
  readonly #view = new DataView(this.#block.buffer);
  #length = 0;

  update(data: string | Uint8Array): this {
    const bytes = bytesOf(data);
    for (let start = 0; start < bytes.length; ) {
      const used = this.#length % blockBytes;
      const part = bytes.subarray(start, start + blockBytes - used);
      this.#block.set(part, used);
      this.#length += part.length;
      start += part.length;
      if (this.#length % blockBytes === 0) compress(this.#state, this.#words, this.#view, 0);
    }
    return this;
  }

  digest(): Uint8Array;
  digest(encoding: "hex"): string;
  digest(encoding?: "hex"): Uint8Array | string {
    const length = this.#length;
    const zeros = (blockBytes * 2 - 9 - (length % blockBytes)) % blockBytes;
    const end = new DataView(new ArrayBuffer(1 + zeros + 8));
    end.setUint8(0, 0x80);
    end.setBigUint64(1 + zeros, BigInt(length) * 8n);
    this.update(new Uint8Array(end.buffer));
    const digest = new DataView(new ArrayBuffer(32));
    for (const [i, word] of this.#state.entries()) digest.setInt32(4 * i, word);
    const bytes = new Uint8Array(digest.buffer);
    return encoding === "hex" ? hexOf(bytes) : bytes;
  }
}

export const createHash = (algorithm: string): Sha256 => {
  if (algorithm !== "sha256") throw new TypeError(`There is no ${algorithm} here.`);
  return new Sha256();
};

/** Returns hexadecimal digits, or with `buffer` bytes. */
export function hash(algorithm: string, data: string | Uint8Array): string;
export function hash(algorithm: string, data: string | Uint8Array, encoding: "buffer"): Uint8Array;
export function hash(algorithm: string, data: string | Uint8Array, encoding?: "buffer"): string | Uint8Array {
  const digest = createHash(algorithm).update(data).digest();
  return encoding === "buffer" ? digest : hexOf(digest);
}
