export interface OggPages {
  /** Where the last page ends; beyond the bytes if it is truncated. */
  readonly end: number;
  /** Whether something that is not a page follows the last one. */
  readonly foreign: boolean;
  /** The granule position of the last page that ends a packet: for Vorbis the number of samples. */
  readonly granules: number;
}

/** No packet ends on a page with this granule position. */
const none = 0xffff_ffff_ffff_ffffn;

/** Walks the pages of an Ogg file (RFC 3533): 27 bytes, the last of which counts the segments, their lengths, the segments. */
export const oggPages = (ogg: Buffer): OggPages => {
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
