import { EngineFailed, Unpronounceable } from "../../domain/errors.ts";
import type { AudioSource } from "../../domain/ledger/journal/serving.ts";
import type { Rendition } from "./audio.ts";

/** The result of the rendition that succeeded. */
export interface RenditionResult<T> {
  readonly rendition: Rendition;
  readonly got: T;
  readonly source: AudioSource;
  /** The system voices of the renditions that failed before. */
  readonly failed: string[];
}

/** Tries the renditions of a request in their order, until one succeeds. */
export class Fallbacks {
  /** The number of results since the start. */
  readonly results: Record<AudioSource, number> = { miss: 0, coalesced: 0, memory: 0, store: 0 };

  /**
   * The result of the first rendition that succeeds.
   * @throws {EngineFailed} {Unpronounceable} if all have failed
   * @throws errors of other kinds, at once
   */
  async first<T>(
    renditions: readonly Rendition[],
    attempt: (rendition: Rendition) => Promise<Pick<RenditionResult<T>, "got" | "source">>,
  ): Promise<RenditionResult<T>> {
    const failed: string[] = [];
    let failure: unknown;
    for (const rendition of renditions) {
      try {
        const result = { rendition, failed, ...(await attempt(rendition)) };
        this.results[result.source]++;
        return result;
      } catch (error) {
        if (!(error instanceof EngineFailed || error instanceof Unpronounceable)) throw error;
        failed.push(rendition.systemVoice);
        // If several voices cannot pronounce the text, the last failure names what no voice can
        // pronounce.
        if (!failure || (failure instanceof Unpronounceable && error instanceof Unpronounceable))
          failure = error;
      }
    }
    throw failure ?? new TypeError("No rendition was given.");
  }
}
