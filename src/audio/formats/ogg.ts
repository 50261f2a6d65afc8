import type { AudioLength } from "./audio-length.ts";

interface OggPages {
  /** The end of the last page; beyond the bytes if it is truncated. */
  readonly end: number;
  /** True if bytes that are not a page follow the last one. */
  readonly foreign: boolean;
  /**
   * The granule position of the last page on which a packet ends: for Vorbis, the number of
   * samples.
   */
  readonly granules: number;
}

/** The granule position of a page on which no packet ends. */
const none = 0xffff_ffff_ffff_ffffn;

/**
 * Walks the pages (RFC 3533). A page begins with 27 bytes, the last of which is the number of
 * segments; the lengths of the segments follow, then the segments.
 */
const oggPages = (ogg: Buffer): OggPages => {
  let at = 0;
  let granules = 0;
  while (at < ogg.length) {
    if (!"OggS".startsWith(ogg.toString("latin1", at, at + 4))) return { end: at, foreign: true, granules };
    const segments = ogg[at + 26] ?? 0;
    const table = ogg.subarray(at + 27, at + 27 + segments);
    if (at + 27 + segments > ogg.length) return { end: at + 27 + segments, foreign: false, granules };
    const position = ogg.readBigUInt64LE(at + 6);
    if (position !== none) granules = Number(position);
    at += 27 + segments + table.reduce((sum, length) => sum + length, 0);
  }
  return { end: at, foreign: false, granules };
};

export const isTruncatedOgg = (bytes: Buffer): boolean => {
  const { end, foreign } = oggPages(bytes);
  return !foreign && end > bytes.length;
};

/**
 * The first page names the codec: Vorbis (Vorbis I, section 4.2.2), or Opus (RFC 7845, section
 * 5.1), whose sample rate is always 48 kHz.
 */
export const measureOgg = (ogg: Buffer): AudioLength | undefined => {
  const { granules } = oggPages(ogg);
  if (ogg.length < 48) return undefined;
  if (ogg.toString("latin1", 28, 35) === "\x01vorbis") {
    return { samples: granules, sampleRate: ogg.readUInt32LE(40) };
  }
  if (ogg.toString("latin1", 28, 36) !== "OpusHead") return undefined;
  return { samples: granules - ogg.readUInt16LE(38), sampleRate: 48_000 };
};
