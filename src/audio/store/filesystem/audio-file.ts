import { crc32 } from "node:zlib";
import { type AudioContent, type AudioInfo, DamagedAudio } from "../audio-store.ts";

/*
 * A file holds the bytes of an object and, after them, a footer with the facts about it. Both are
 * written in one step, and every reader recognises a truncated or changed file. The footer
 * contains:
 *
 * magic (8 bytes), size of the object (6), number of samples (6), sample rate (4), reserved (4),
 * CRC-32 of everything before it (4)
 */
const magic = Buffer.from("voxaudio", "latin1");
export const footerBytes = 32;

/** Makes the footer that follows the object's bytes in its file. Numbers are little-endian. */
export const footerOf = ({ bytes, length: { samples, sampleRate } }: AudioContent): Buffer => {
  const footer = Buffer.alloc(footerBytes);
  magic.copy(footer);
  footer.writeUIntLE(bytes.length, 8, 6);
  footer.writeUIntLE(samples, 14, 6);
  footer.writeUInt32LE(sampleRate, 20);
  footer.writeUInt32LE(crc32(footer.subarray(0, 28), crc32(bytes)), 28);
  return footer;
};

/**
 * Returns the number of bytes of the object in a file of this size.
 * @throws {DamagedAudio}
 */
export const audioSize = (fileSize: number): number => {
  if (fileSize <= footerBytes) throw new DamagedAudio();
  return fileSize - footerBytes;
};

/**
 * Reads the footer of an object of this size.
 * @throws {DamagedAudio}
 */
export const parseFooter = (footer: Buffer, size: number): Omit<AudioInfo, "usedAt"> => {
  const isFooter =
    footer.length === footerBytes && footer.subarray(0, 8).equals(magic) && footer.readUIntLE(8, 6) === size;
  if (!isFooter) throw new DamagedAudio();
  return {
    size,
    length: { samples: footer.readUIntLE(14, 6), sampleRate: footer.readUInt32LE(20) },
    hasChecksum: (checksum) => crc32(footer.subarray(0, 28), checksum) === footer.readUInt32LE(28),
  };
};

/**
 * Returns the object in a file.
 * @throws {DamagedAudio}
 */
export const parseAudioFile = (file: Buffer): AudioContent => {
  const size = audioSize(file.length);
  const { length, hasChecksum } = parseFooter(file.subarray(size), size);
  const bytes = file.subarray(0, size);
  if (!hasChecksum(crc32(bytes))) throw new DamagedAudio();
  return { bytes, length };
};
