/*
 * The part of Node that the engine of local tools uses, for browsers: the bundle resolves `Buffer`,
 * `node:path` and `node:stream` to this file. Samples are little-endian, as browsers' typed arrays
 * are on every processor.
 */

class Bytes extends Uint8Array {
  get #view(): DataView {
    return new DataView(this.buffer, this.byteOffset, this.length);
  }
  readInt16LE(at: number): number {
    return this.#view.getInt16(at, true);
  }
  readUInt32LE(at: number): number {
    return this.#view.getUint32(at, true);
  }
  writeInt16LE(value: number, at: number): void {
    this.#view.setInt16(at, value, true);
  }
  writeUInt16LE(value: number, at: number): void {
    this.#view.setUint16(at, value, true);
  }
  writeUInt32LE(value: number, at: number): void {
    this.#view.setUint32(at, value, true);
  }
  write(text: string, at: number): void {
    this.set(new TextEncoder().encode(text), at);
  }
  override toString(_encoding?: string, start?: number, end?: number): string {
    return new TextDecoder("latin1").decode(this.subarray(start, end));
  }
  copy(target: Uint8Array): void {
    target.set(this);
  }
}

const concat = (parts: readonly Uint8Array[]): Bytes => {
  const joined = new Bytes(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
};

const from = (source: string | ArrayBuffer | Uint8Array): Bytes => {
  if (source instanceof ArrayBuffer) return new Bytes(source);
  return concat([typeof source === "string" ? new TextEncoder().encode(source) : source]);
};

const alloc = (size: number): Bytes => new Bytes(size);

export const Buffer = { alloc, allocUnsafe: alloc, concat, from } as unknown as typeof globalThis.Buffer;

/** Reads nothing ahead. No tool has a slot in a page, so nothing has to be stopped. */
export const Readable = {
  from: <T>(source: AsyncIterable<T>) => ({
    on: () => undefined,
    read: () => undefined,
    destroy: () => undefined,
    [Symbol.asyncIterator]: () => source[Symbol.asyncIterator](),
  }),
};

export const join = (...parts: readonly string[]): string => parts.join("/");
