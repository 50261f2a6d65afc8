import type { EncodedFormat } from "../../../domain/synthesis/formats.ts";
import type { Encoding } from "./encoding.ts";

/** The next part of an audio. It gets one response. */
export interface EncodeRequest {
  readonly audio: number;
  readonly format: EncodedFormat;
  readonly sampleRate: number;
  readonly pcm: Uint8Array<ArrayBuffer>;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/**
 * The audios that a thread encodes. Only the first part of an audio opens an encoding: a part that
 * follows the end of its audio would open one that nobody closes.
 */
export const createThreadAudios = (open: (format: EncodedFormat, sampleRate: number) => Encoding) => {
  const encodings = new Map<number, Encoding>();
  const close = (audio: number): void => {
    const encoding = encodings.get(audio);
    encodings.delete(audio);
    try {
      encoding?.close();
    } catch {
      // The response says how the audio ended. Other audios are not affected.
    }
  };
  const encodingOf = ({ audio, format, sampleRate, isFirst }: EncodeRequest): Encoding => {
    const opened = encodings.get(audio);
    if (opened) return opened;
    if (!isFirst) throw new Error("The audio has ended.");
    const encoding = open(format, sampleRate);
    encodings.set(audio, encoding);
    return encoding;
  };
  return {
    /**
     * Encodes a part. After the last part, or a failure, closes the encoding.
     * @throws {Error}
     */
    encode: (request: EncodeRequest): Buffer => {
      let hasSucceeded = false;
      try {
        const encoding = encodingOf(request);
        const bytes = encoding.encode(Buffer.from(request.pcm.buffer));
        const encoded = request.isLast ? Buffer.concat([bytes, encoding.finish()]) : bytes;
        hasSucceeded = true;
        return encoded;
      } finally {
        if (request.isLast || !hasSucceeded) close(request.audio);
      }
    },
    /** Closes the encoding of an audio. Does nothing if the audio has ended. */
    close,
  };
};
