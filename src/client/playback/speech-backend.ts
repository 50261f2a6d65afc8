import type { StartTimer } from "../dom.ts";
import { VoxledgerError } from "../errors.ts";
import { inTime } from "../in-time.ts";
import { playbackProsody } from "../prosody.ts";
import type { Delivery, SpokenPart, Transport } from "../transport/transport.ts";
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

export type { SpokenPart };

/** A part that can be played at once. */
export interface PreparedPart extends SpokenPart {
  /**
   * Resolves when the part was played to its end, or the signal was aborted.
   * @throws {VoxledgerError}
   */
  play(playback: PartPlayback): Promise<void>;
}

/** Speaks the parts of a text, with the service's voices or the browser's. */
export interface SpeechBackend {
  readonly native: boolean;
  prepare(parts: readonly SpokenPart[], signal: AbortSignal): AsyncIterable<PreparedPart>;
  pause(): void;
  resume(): void;
}

/** Plays the audio that the transport delivers. */
export const serviceBackend = ({
  transport,
  player,
  prosodyFallback,
  startTimer,
  lookahead = 1,
}: {
  transport: Transport;
  player: Player;
  prosodyFallback: boolean;
  startTimer: StartTimer;
  /** The number of parts that are loaded before they are played. */
  lookahead?: number;
}): SpeechBackend => ({
  native: false,
  async *prepare(parts, signal) {
    const options = { transport, parts, lookahead, startTimer };
    for await (const { delivery, part, voice } of deliverParts(options, signal)) {
      const prosody = playbackProsody(voice.prosody, delivery.prosodyApplied, prosodyFallback);
      yield {
        ...{ part, voice },
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
    return loadMarks ? parseMarks(await loadMarks(signal), part) : [];
  } catch {
    return [];
  }
};

interface DeliveredPart extends SpokenPart {
  readonly delivery: Delivery;
}

/**
 * Delivers the audio of the parts in order. Requests each part as soon as the previous one has been
 * received, and at most `lookahead` parts before its turn. A part must be there at most `maxWaitMs`
 * after its turn. Ending the iteration or aborting the signal ends all requests in flight.
 * @throws {VoxledgerError}
 */
export async function* deliverParts(
  {
    transport,
    parts,
    lookahead,
    startTimer,
  }: {
    transport: Transport;
    parts: readonly SpokenPart[];
    lookahead: number;
    startTimer: StartTimer;
  },
  callerSignal: AbortSignal,
): AsyncGenerator<DeliveredPart> {
  const abort = new AbortController();
  const signal = AbortSignal.any([callerSignal, abort.signal]);
  const opened = new Map<number, ReturnType<typeof open>>();
  const played = parts.map(() => Promise.withResolvers<void>()); // a player may skip the rest of the audio
  const openAfterPrevious = async (index: number, spoken: SpokenPart): ReturnType<typeof open> => {
    const previous = await opened.get(index - 1);
    if (previous) await Promise.race([previous.received, played[index - 1]?.promise]);
    return await open(transport, spoken, signal);
  };
  try {
    for (const [turn, { voice }] of parts.entries()) {
      for (const [ahead, spoken] of parts.slice(turn, turn + lookahead + 1).entries()) {
        if (opened.has(turn + ahead)) continue;
        const opening = openAfterPrevious(turn + ahead, spoken);
        opening.catch(() => {}); // thrown below when it is this part's turn
        opened.set(turn + ahead, opening);
      }
      const delivered = await inTime(opened.get(turn), voice.maxWaitMs, startTimer);
      if (!delivered) return;
      yield delivered;
      played[turn]?.resolve();
      opened.delete(turn - 1);
    }
  } finally {
    abort.abort();
  }
}

/**
 * Requests the audio of a part. If the service does not have the language, the other voice speaks;
 * if the voice's engine does not read SSML, it gets the plain text.
 */
const open = async (
  transport: Transport,
  { part, voice }: SpokenPart,
  signal: AbortSignal,
): Promise<DeliveredPart & { readonly received: Promise<void> }> => {
  try {
    const { received, ...audio } = await transport(part, voice, signal);
    return { part, voice, delivery: { part, ...audio }, received };
  } catch (error) {
    const code = error instanceof VoxledgerError ? error.code : undefined;
    const { spans, ...plain } = part;
    if (code === "NOT_FOUND" && voice.otherwise) {
      return await open(transport, { part, voice: voice.otherwise }, signal);
    }
    if (code === "VALIDATION_ERROR" && spans) return await open(transport, { part: plain, voice }, signal);
    throw error;
  }
};
