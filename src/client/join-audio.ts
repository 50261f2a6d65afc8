import { readBlob } from "./playback/player.ts";
import { deliverParts, type SpokenPart } from "./playback/speech-backend.ts";
import type { Transport } from "./transport/transport.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * The audio of the parts as one file. Files of mp3 can be joined, because each frame is
 * independent; the service's have a constant bit rate and no tags, but a provider's may have some.
 * @throws {VoxledgerError}
 */
export const joinAudio = async (
  parts: readonly SpokenPart[],
  transport: Transport,
  signal: AbortSignal,
): Promise<Blob> => {
  const chunks: Bytes[] = [];
  for await (const { delivery } of deliverParts({ transport, parts, lookahead: 1 }, signal)) {
    const part = await readBlob(delivery.audio, delivery.contentType);
    chunks.push(withoutTags(new Uint8Array(await part.arrayBuffer())));
  }
  return new Blob(chunks, { type: "audio/mpeg" });
};

const id3Header = 10;
const id3v1Length = 128;

/** Tags and the header of a variable bit rate state the length of their own part only. */
const withoutTags = (mp3: Bytes): Bytes => {
  const start = textAt(mp3, 0, 3) === "ID3" ? id3Header + synchsafe(mp3.subarray(6, 10)) : 0;
  const end = textAt(mp3, mp3.length - id3v1Length, 3) === "TAG" ? mp3.length - id3v1Length : mp3.length;
  const frames = mp3.subarray(start, end);
  const hasHeader = /Xing|Info|VBRI/.test(textAt(frames, 0, 48));
  return hasHeader ? frames.subarray(frameLength(frames)) : frames;
};

const textAt = (bytes: Bytes, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(Math.max(at, 0), Math.max(at + length, 0)));

/** An integer of four bytes with seven bits each. */
const synchsafe = (bytes: Bytes): number => bytes.reduce((value, byte) => value * 128 + byte, 0);

/** Kilobits per second of layer III, by the index in the header, for MPEG 1 and for MPEG 2. */
const bitRates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const sampleRates = [44_100, 48_000, 32_000];

/** The length of the first frame of layer III. */
const frameLength = ([, version = 0, rates = 0]: Bytes): number => {
  const mpeg = (version >> 3) & 3; // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
  const kilobits = bitRates[mpeg === 3 ? 0 : 1][rates >> 4] ?? 0;
  const sampleRate = (sampleRates[(rates >> 2) & 3] ?? 44_100) / (mpeg === 3 ? 1 : mpeg === 2 ? 2 : 4);
  return Math.floor(((mpeg === 3 ? 144_000 : 72_000) * kilobits) / sampleRate) + ((rates >> 1) & 1);
};
