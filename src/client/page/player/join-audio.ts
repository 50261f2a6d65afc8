import { readMpegFrame } from "./mpeg-frame.ts";
import { waveFile } from "./wave-file.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * The audio of the parts as one file: mp3, whose frames can be joined. Voices may differ in their
 * sample rate, which browsers do not let change within a file, and some speak ogg only: then it is
 * a WAV file.
 */
export const joinAudio = async (parts: AsyncIterable<Blob>): Promise<Blob> => {
  const joined: Bytes[] = [];
  const encodings = new Set<string>();
  for await (const part of parts) {
    if (part.size === 0) continue; // silence
    const bytes = withoutTags(new Uint8Array(await part.arrayBuffer()));
    const isMp3 = part.type === mp3Type;
    joined.push(bytes);
    encodings.add(isMp3 ? `${mp3Type} ${readMpegFrame(bytes).sampleRate}` : part.type);
  }
  const canJoin = encodings.size === 1 && [...encodings][0]?.startsWith(mp3Type);
  return canJoin ? new Blob(joined, { type: mp3Type }) : await waveFile(joined);
};

const mp3Type = "audio/mpeg";

const id3Header = 10;
const id3v1Length = 128;

/**
 * The service's mp3 has a constant bit rate and no tags. A provider's may have tags, and a first
 * frame without sound that states the length of this part only.
 */
const withoutTags = (mp3: Bytes): Bytes => {
  const start = textAt(mp3, 0, 3) === "ID3" ? id3Header + synchsafe(mp3.subarray(6, 10)) : 0;
  const end = textAt(mp3, mp3.length - id3v1Length, 3) === "TAG" ? mp3.length - id3v1Length : mp3.length;
  const frames = mp3.subarray(start, end);
  const statesLength = /Xing|Info|VBRI/.test(textAt(frames, 0, 48));
  return statesLength ? frames.subarray(readMpegFrame(frames).length) : frames;
};

const textAt = (bytes: Bytes, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(Math.max(at, 0), Math.max(at + length, 0)));

/** An integer of four bytes with seven bits each. */
const synchsafe = (bytes: Bytes): number => bytes.reduce((value, byte) => value * 128 + byte, 0);
