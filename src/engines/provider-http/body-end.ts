/**
 * Follows a body that ends with its connection, because it has neither Content-Length nor chunks. A
 * crashed server ends it in the same way. Only a container that states its own end proves that the
 * body is complete.
 */
interface BodyEnd {
  readonly add: (chunk: Buffer) => void;
  /** True if the bytes so far are a complete Ogg stream or a WAV of the size in its header. */
  readonly isProven: () => boolean;
}

const magicBytes = 4;
const riffHeaderBytes = 12;

export const followBody = (): BodyEnd => {
  const ogg = new OggEnd();
  let beginning: Buffer = Buffer.alloc(0);
  let size = 0;
  return {
    add: (chunk) => {
      size += chunk.length;
      if (beginning.length < riffHeaderBytes)
        beginning = Buffer.concat([beginning, chunk.subarray(0, riffHeaderBytes - beginning.length)]);
      ogg.add(chunk);
    },
    isProven: () => ogg.isProven() || isWavOfSize(beginning, size),
  };
};

/** Unknown sizes (0 or near the largest number) never match. */
const isWavOfSize = (header: Buffer, size: number): boolean =>
  header.length === riffHeaderBytes &&
  header.toString("latin1", 0, magicBytes) === "RIFF" &&
  header.toString("latin1", 8) === "WAVE" &&
  header.readUInt32LE(4) + 8 === size;

/**
 * The last byte of the fixed part of a page's header counts its segments, whose lengths follow (RFC
 * 3533, section 6).
 */
const fixedBytes = 27;
const flagsAt = 5;
const endOfStream = 0x04;

/** Walks the pages of an Ogg stream. */
class OggEnd {
  /** The header of the page that begins, as far as it has arrived. */
  #header: Buffer = Buffer.alloc(0);
  /** Bytes of the page that have not arrived. */
  #missing = 0;
  #isLastPage = false;
  #isOgg = true;

  add(chunk: Buffer): void {
    for (let at = 0; this.#isOgg && at < chunk.length; ) {
      const wanted = this.#missing || this.#headerBytes() - this.#header.length;
      const taken = chunk.subarray(at, at + wanted);
      at += taken.length;
      if (this.#missing > 0) this.#missing -= taken.length;
      else this.#addToHeader(taken);
    }
  }

  isProven(): boolean {
    return this.#isOgg && this.#isLastPage && this.#missing === 0 && this.#header.length === 0;
  }

  #headerBytes(): number {
    return this.#header.length < fixedBytes ? fixedBytes : fixedBytes + (this.#header[fixedBytes - 1] ?? 0);
  }

  #addToHeader(bytes: Buffer): void {
    const header = Buffer.concat([this.#header, bytes]);
    this.#header = header;
    if (header.length < fixedBytes || header.length < this.#headerBytes()) return;
    this.#isOgg = header.toString("latin1", 0, magicBytes) === "OggS";
    this.#isLastPage = ((header[flagsAt] ?? 0) & endOfStream) !== 0;
    this.#missing = header.subarray(fixedBytes).reduce((sum, length) => sum + length, 0);
    this.#header = Buffer.alloc(0);
  }
}
