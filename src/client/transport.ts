import { VoxledgerError } from "./errors.ts";
import type { Knob, Prosody } from "./prosody.ts";
import type { TextPart } from "./text-parts.ts";

export type TransportMode = "chunks" | "stream" | "websocket";

/** What is to be spoken. `voice` wins over `lang`; one of them is there. */
export interface Wanted {
  readonly voice: string | undefined;
  readonly lang: string | undefined;
  readonly prosody: Prosody;
}

/** The audio of one part, whole in one piece or as it comes; no piece at all for silence. */
export interface Delivery {
  readonly part: TextPart;
  readonly contentType: string;
  readonly prosodyApplied: readonly Knob[];
  readonly audio: AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** How the audio of fallback voices comes here. */
export interface Transport {
  /**
   * Delivers the parts in their order, each as soon as it can be played. Leaving the iteration, or raising the signal,
   * ends whatever is still under way.
   * @throws {VoxledgerError}
   */
  deliver(parts: readonly TextPart[], wanted: Wanted, signal: AbortSignal): AsyncIterable<Delivery>;
}

/** A mode that the service does not have: to speak by it fails. */
export const unsupportedTransport = (mode: TransportMode): Transport => ({
  // biome-ignore lint/correctness/useYield: there is nothing to deliver.
  async *deliver() {
    throw new VoxledgerError(`The transport ${mode} is not supported by this server yet: use chunks.`, {
      code: "NOT_SUPPORTED",
    });
  },
});
