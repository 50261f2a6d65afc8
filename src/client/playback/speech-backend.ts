import { leftToPlayer } from "../prosody.ts";
import type { TextPart } from "../text-parts.ts";
import type { Transport, Wanted } from "../transport/transport.ts";
import type { Player } from "./player.ts";

export interface Telling {
  /** Raised when it must fall silent. */
  readonly signal: AbortSignal;
  /** Called once, when the first sound is heard. */
  onStart(): void;
  /** Counts from the part's beginning. Native voices alone. */
  onBoundary(charIndex: number, name: "word" | "sentence"): void;
}

/** A part that is ready to be spoken. */
export interface Passage {
  readonly part: TextPart;
  /** Resolves when it was spoken to its end, or its signal was raised. @throws {VoxledgerError} */
  tell(telling: Telling): Promise<void>;
}

/** What speaks the parts of a text: the service's voices, or the browser's. */
export interface Narrator {
  readonly native: boolean;
  narrate(parts: readonly TextPart[], signal: AbortSignal): AsyncIterable<Passage>;
  pause(): void;
  resume(): void;
}

/** Speaks by the service: what the transport delivers, the player plays. */
export const serviceNarrator = ({
  transport,
  player,
  wanted,
  prosodyFallback,
}: {
  transport: Transport;
  player: Player;
  wanted: Wanted;
  prosodyFallback: boolean;
}): Narrator => ({
  native: false,
  async *narrate(parts, signal) {
    for await (const delivery of transport.deliver(parts, wanted, signal)) {
      const prosody = leftToPlayer(wanted.prosody, delivery.prosodyApplied, prosodyFallback);
      yield {
        part: delivery.part,
        tell: ({ signal, onStart }) => player.play(delivery, { prosody, signal, onStart }),
      };
    }
  },
  pause: () => player.pause(),
  resume: () => player.resume(),
});
