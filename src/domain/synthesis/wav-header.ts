/** The size in the header of a WAV stream whose length is not known yet. */
export const unknownSize = 0xffff_ffff;

/**
 * True for the sizes that writers use while the length is unknown: 0, 0xFFFFFFFF, or one near the
 * largest signed number.
 */
export const isUnknownSize = (size: number): boolean => size === 0 || size >= 0x7fff_0000;

/** The size that espeak-ng's command line writes while the length is unknown. */
export const espeakUnknownSize = 0x7fff_f000;

/**
 * The canonical header of 44 bytes for `dataBytes` bytes of 16-bit mono samples at `sampleRate` Hz.
 */
export const wavHeader = (sampleRate: number, dataBytes: number): Buffer => {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(Math.min(36 + dataBytes, unknownSize), 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(2 * sampleRate, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes, 40);
  return header;
};
