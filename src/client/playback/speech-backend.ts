import { playbackProsody } from "../prosody.ts";
import type { TextPart } from "../text-parts.ts";
import { deliverParts } from "../transport/prefetch.ts";
import type { Transport, VoiceRequest } from "../transport/transport.ts";
import type { Player } from "./player.ts";

export interface PartPlayback {
  /** Aborted to stop playback. */
  readonly signal: AbortSignal;
  /** Called once, at the first audible sound. */
  onStart(): void;
  /** Native voices only. `charIndex` is an offset into the part. */
  onBoundary(charIndex: number, name: "word" | "sentence"): void;
}

/** A part that can be played at once. */
export interface PreparedPart {
  readonly part: TextPart;
  /** Resolves when the part was played to its end, or the signal was aborted. @throws {VoxledgerError} */
  play(playback: PartPlayback): Promise<void>;
}

/** Speaks the parts of a text, with the service's voices or the browser's. */
export interface SpeechBackend {
  readonly native: boolean;
  prepare(parts: readonly TextPart[], signal: AbortSignal): AsyncIterable<PreparedPart>;
  pause(): void;
  resume(): void;
}

/** Plays the audio that the transport delivers. */
export const serviceBackend = ({
  transport,
  player,
  voice,
  prosodyFallback,
}: {
  transport: Transport;
  player: Player;
  voice: VoiceRequest;
  prosodyFallback: boolean;
}): SpeechBackend => ({
  native: false,
  async *prepare(parts, signal) {
    for await (const delivery of deliverParts(transport, parts, voice, signal)) {
      const prosody = playbackProsody(voice.prosody, delivery.prosodyApplied, prosodyFallback);
      yield {
        part: delivery.part,
        play: ({ signal, onStart }) => player.play(delivery, { prosody, signal, onStart }),
      };
    }
  },
  pause: () => player.pause(),
  resume: () => player.resume(),
});
