import { createHash } from "node:crypto";
import type { AudioContent, AudioName } from "../../../src/audio/store/audio-store.ts";

/** The name of the object with this number. */
export const nameOf = (index: number): AudioName =>
  `public/${createHash("sha256").update(`sound ${index}`).digest("hex")}.mp3`;

/** The bytes of the object with this number: the number, then a unique pattern. */
export const soundOf = (index: number, size = 20_000 + (index % 977) * 13): Buffer => {
  const bytes = Buffer.alloc(size, createHash("sha512").update(`${index}`).digest());
  bytes.writeUInt32BE(index, 0);
  return bytes;
};

/** These bytes as an object of the store, which does not parse them. */
export const objectOf = (bytes: Buffer): AudioContent => ({
  bytes,
  length: { samples: bytes.length, sampleRate: 8000 },
});
