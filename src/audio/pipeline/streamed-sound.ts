import type { Provenance } from "../../domain/usage/usage.ts";
import type { Rendition } from "../formats/sound.ts";

/** A sound whose first bytes are there and whose rest comes. */
export interface StreamedSound {
  /** The take that it is. */
  readonly rendition: Rendition;
  /** The system voices of the takes before it, which failed. */
  readonly failed: readonly string[];
  readonly provenance: Provenance;
  /**
   * From the first byte on, at the pace of whoever reads; to be read once. Leaving the iteration gives up one's share
   * in the making, which ends when nobody is left. A failure midway throws {EngineFailed} or {Unavailable}: what was
   * told until then is no whole sound. Chunks are shared with others: not to be written to.
   */
  readonly audio: AsyncIterable<Buffer>;
}
