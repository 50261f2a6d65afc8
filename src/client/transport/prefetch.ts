import type { TextPart } from "../text-parts.ts";
import type { Delivery, Transport, VoiceRequest } from "./transport.ts";

/** The audio of a part, whose first chunk has been received. */
export interface OpenedAudio extends Omit<Delivery, "part"> {
  /** Resolves when all of it has been received. */
  readonly received: Promise<void>;
}

/** Requests the audio of a part. Aborting the signal also ends a running stream. @throws {VoxledgerError} */
export type OpenAudio = (part: TextPart, voice: VoiceRequest, signal: AbortSignal) => Promise<OpenedAudio>;

/** Requests each part as soon as the previous one has been received, so that it is loaded while that one plays. */
export const withPrefetch = (open: OpenAudio): Transport => ({
  async *deliver(parts, voice, callerSignal) {
    const abort = new AbortController();
    const signal = AbortSignal.any([callerSignal, abort.signal]);
    const openAfter = (previous: Promise<void>, part: TextPart | undefined) => {
      const opened = part && previous.then(() => open(part, voice, signal));
      opened?.catch(() => {}); // thrown below when it is this part's turn
      return opened;
    };
    try {
      let next = openAfter(Promise.resolve(), parts[0]);
      for (const [index, part] of parts.entries()) {
        const { received, ...audio } = (await next) as OpenedAudio;
        const played = Promise.withResolvers<void>();
        next = openAfter(Promise.race([received, played.promise]), parts[index + 1]);
        yield { part, ...audio };
        played.resolve(); // a player may skip the rest of the audio
      }
    } finally {
      abort.abort();
    }
  },
});
