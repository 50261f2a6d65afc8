import { playbackProsody } from "../prosody.ts";
import type { TextPart } from "../text-parts.ts";
import type { Transport, VoiceRequest } from "../transport/transport.ts";
import type { Player } from "./player.ts";

export interface PartPlayback {
  /** Raised when it must fall silent. */
  readonly signal: AbortSignal;
  /** Called once, when the first sound is heard. */
  onStart(): void;
  /** Counts from the part's beginning. Native voices alone. */
  onBoundary(charIndex: number, name: "word" | "sentence"): void;
}

/** A part that is ready to be spoken. */
export interface PreparedPart {
  readonly part: TextPart;
  /** Resolves when it was spoken to its end, or its signal was raised. @throws {VoxledgerError} */
  play(telling: PartPlayback): Promise<void>;
}

/** What speaks the parts of a text: the service's voices, or the browser's. */
export interface SpeechBackend {
  readonly native: boolean;
  prepare(parts: readonly TextPart[], signal: AbortSignal): AsyncIterable<PreparedPart>;
  pause(): void;
  resume(): void;
}

/** Speaks by the service: what the transport delivers, the player plays. */
export const serviceBackend = ({
  transport,
  player,
  wanted,
  prosodyFallback,
}: {
  transport: Transport;
  player: Player;
  wanted: VoiceRequest;
  prosodyFallback: boolean;
}): SpeechBackend => ({
  native: false,
  async *prepare(parts, signal) {
    for await (const delivery of transport.deliver(parts, wanted, signal)) {
      const prosody = playbackProsody(wanted.prosody, delivery.prosodyApplied, prosodyFallback);
      yield {
        part: delivery.part,
        play: ({ signal, onStart }) => player.play(delivery, { prosody, signal, onStart }),
      };
    }
  },
  pause: () => player.pause(),
  resume: () => player.resume(),
});
