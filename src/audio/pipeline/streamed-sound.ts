import type { Provenance } from "../../domain/usage/usage.ts";
import type { Rendition } from "../formats/sound.ts";

/** A sound whose first bytes are available. */
export interface StreamedSound {
  readonly rendition: Rendition;
  /** System voices of the renditions that failed before this one. */
  readonly failed: readonly string[];
  readonly provenance: Provenance;
  /**
   * From the first byte, at the reader's pace; can be read once. Leaving the iteration leaves the synthesis, which
   * ends with its last reader. @throws {EngineFailed} {Unavailable} midway: the audio is incomplete. Chunks are
   * shared: do not modify them.
   */
  readonly audio: AsyncIterable<Buffer>;
}
