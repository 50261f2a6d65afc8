import { playbackProsody } from "../prosody.ts";
import type { TextPart } from "../text-parts.ts";
import type { Delivery, Transport, VoiceRequest } from "../transport/transport.ts";
import { type Boundary, parseMarks } from "./boundaries.ts";
import { partStart } from "./part-start.ts";
import type { Playback, Player } from "./player.ts";

export interface PartPlayback {
  /** Aborted to stop playback. */
  readonly signal: AbortSignal;
  /** Called once, at the first audible sound. */
  onStart(): void;
  /** Absent if the caller needs no boundaries. `charIndex` is an offset into the part. */
  readonly onBoundary?: ((boundary: Boundary) => void) | undefined;
}

/** A part that can be played at once. */
export interface PreparedPart {
  readonly part: TextPart;
  /**
   * Resolves when the part was played to its end, or the signal was aborted.
   * @throws {VoxledgerError}
   */
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
        play: async (playback) => {
          const { signal, onStart } = playback;
          const timing = await timingOf(delivery, playback);
          await player.play(delivery, { prosody, signal, onStart, ...timing });
        },
      };
    }
  },
  pause: () => player.pause(),
  resume: () => player.resume(),
});

/** Waits for the marks only if the part is not played from its beginning. */
const timingOf = async (
  delivery: Delivery,
  { signal, onBoundary }: PartPlayback,
): Promise<Pick<Playback, "startTime" | "boundaries" | "onBoundary">> => {
  const { part } = delivery;
  if (!onBoundary && part.startAt === undefined) return {};
  const loading = loadBoundaries(delivery, signal);
  const toReport = (boundaries: Promise<readonly Boundary[]>) => onBoundary && { boundaries, onBoundary };
  if (part.startAt === undefined) return { ...toReport(loading) };
  const { startTime, boundaries } = partStart(part, await loading);
  return { startTime, ...toReport(Promise.resolve(boundaries)) };
};

/** Speech does not depend on marks: if they cannot be loaded, there are none. */
const loadBoundaries = async (
  { part, loadMarks }: Delivery,
  signal: AbortSignal,
): Promise<readonly Boundary[]> => {
  try {
    return loadMarks ? parseMarks(await loadMarks(signal), part.text) : [];
  } catch {
    return [];
  }
};

/**
 * Delivers the audio of the parts in order. Requests each part as soon as the previous one has been
 * received, so that it is loaded while that one plays. Ending the iteration or aborting the signal
 * ends all requests in flight.
 * @throws {VoxledgerError}
 */
async function* deliverParts(
  transport: Transport,
  parts: readonly TextPart[],
  voice: VoiceRequest,
  callerSignal: AbortSignal,
): AsyncGenerator<Delivery> {
  const abort = new AbortController();
  const signal = AbortSignal.any([callerSignal, abort.signal]);
  const openAfter = (previous: Promise<void>, part: TextPart | undefined) => {
    const opened = part && previous.then(() => transport(part, voice, signal));
    opened?.catch(() => {}); // thrown below when it is this part's turn
    return opened;
  };
  try {
    let next = openAfter(Promise.resolve(), parts[0]);
    for (const [index, part] of parts.entries()) {
      const opened = await next;
      if (!opened) return;
      const { received, ...audio } = opened;
      const played = Promise.withResolvers<void>();
      next = openAfter(Promise.race([received, played.promise]), parts[index + 1]);
      yield { part, ...audio };
      played.resolve(); // a player may skip the rest of the audio
    }
  } finally {
    abort.abort();
  }
}
