import type { SpeechEvent } from "../espeak.ts";

/** A speaker process writes frames: each has a kind, a length, and content. */
export const frameKinds = {
  /** The library is loaded. The content is a JSON string: the program's report about it. */
  ready: 1,
  /** A part of the WAV. */
  wav: 2,
  /** A text has ended. The content is a `SpokenText` as JSON. */
  done: 3,
  /**
   * A text has failed, or the library cannot be loaded. The content is a JSON string: the message.
   */
  failed: 4,
} as const;

export interface SpokenText {
  readonly events: readonly SpeechEvent[];
  /** The CPU time that the process took for the text. */
  readonly cpuMs: number;
  /** True if the process ends now. */
  readonly isLast: boolean;
}

/** The line in the input of a speaker process that cancels the text that it speaks. */
export const cancelLine = "cancel";

/**
 * Returns a request as one line. U+2028 and U+2029, which JSON may contain, are escaped, because
 * `readline` ends a line there.
 */
export const requestLine = (request: unknown): string =>
  JSON.stringify(request).replace(/[\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);

export type FrameKind = (typeof frameKinds)[keyof typeof frameKinds];

export interface Frame {
  readonly kind: FrameKind;
  readonly content: Buffer;
}

const headerBytes = 5;

export const frameHeader = (kind: FrameKind, length: number): Buffer => {
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt8(kind, 0);
  header.writeUInt32LE(length, 1);
  return header;
};

/**
 * Returns a function that takes the bytes as they are read and returns the frames that are
 * complete. It keeps the rest for the next call.
 */
export const createFrameReader = (): ((bytes: Buffer) => Frame[]) => {
  let held: Buffer = Buffer.alloc(0);
  return (bytes) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    const frames: Frame[] = [];
    let at = 0;
    while (held.length - at >= headerBytes) {
      const end = at + headerBytes + held.readUInt32LE(at + 1);
      if (end > held.length) break;
      frames.push({ kind: held.readUInt8(at) as FrameKind, content: held.subarray(at + headerBytes, end) });
      at = end;
    }
    held = held.subarray(at);
    return frames;
  };
};
