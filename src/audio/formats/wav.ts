/**
 * A WAV whose writer did not know its length (one that came through a pipe or from a streaming provider) says 0,
 * 0xFFFFFFFF, or a number near the largest that fits; players and range requests need the true one.
 */
export const isUnknownSize = (size: number): boolean => size === 0 || size >= 0x7fff_0000;

/** The WAV with its true sizes in its header; anything else, and a WAV that has them, as it is. */
export const fixWavSizes = (bytes: Buffer): Buffer => {
  const data = findChunk(bytes, "data");
  if (data === undefined) return bytes;
  const size = bytes.length - data - 8;
  const mendRiff = isUnknownSize(bytes.readUInt32LE(4));
  const mendData = size > 0 && isUnknownSize(bytes.readUInt32LE(data + 4));
  if (!mendRiff && !mendData) return bytes;
  const mended = Buffer.from(bytes);
  if (mendRiff) mended.writeUInt32LE(bytes.length - 8, 4);
  if (mendData) mended.writeUInt32LE(size, data + 4);
  return mended;
};

/** Where the chunk of that name begins, its header of 8 bytes included; undefined if there is none. */
export const findChunk = (bytes: Buffer, name: "fmt " | "data"): number | undefined => {
  if (!isWav(bytes)) return undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    if (bytes.toString("latin1", at, at + 4) === name) return at;
    const size = bytes.readUInt32LE(at + 4);
    at += 8 + size + (size % 2);
  }
  return undefined;
};

const isWav = (bytes: Buffer): boolean =>
  bytes.length >= 12 &&
  bytes.toString("latin1", 0, 4) === "RIFF" &&
  bytes.toString("latin1", 8, 12) === "WAVE";

/** Whether its header speaks of more bytes than there are. */
export const isTruncatedWav = (bytes: Buffer): boolean => {
  if (!isWav(bytes)) return false;
  const size = bytes.readUInt32LE(4);
  return !isUnknownSize(size) && size + 8 > bytes.length;
};
