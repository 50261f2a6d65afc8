import type { SpeechEvent } from "../espeak.ts";

/** A speaker process writes frames: each has a kind, a length, and content. */
export const frameKinds = {
  /** Once: the library is loaded. JSON: a string, its version. */
  ready: 1,
  /** A part of the WAV. */
  wav: 2,
  /** The end of a text. JSON: SpokenText. */
  done: 3,
  /** The end of a text that failed. JSON: a string. */
  failed: 4,
} as const;

export interface SpokenText {
  readonly events: readonly SpeechEvent[];
  /** The CPU time that the process took for it. */
  readonly cpuMs: number;
  /** True if the process ends now. */
  readonly isLast: boolean;
}

/**
 * A line of a speaker process's input, in place of a request: the text that it speaks is no longer
 * needed.
 */
export const cancelLine = "cancel";

/** A request in one line: JSON may contain U+2028 and U+2029, at which `readline` ends a line. */
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

/** Returns the complete frames in what was read so far; the rest is kept for the next call. */
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
