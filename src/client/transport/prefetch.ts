import type { TextPart } from "../text-parts.ts";
import type { Delivery, Transport, VoiceRequest } from "./transport.ts";

/** The sound of a part, of which the first piece is here. */
export interface OpenedAudio extends Omit<Delivery, "part"> {
  /** Resolves when the rest is here too. */
  readonly arrived: Promise<void>;
}

/** Asks for the sound of a part. Raising the signal ends it, even after it was opened. @throws {VoxledgerError} */
export type OpenAudio = (part: TextPart, wanted: VoiceRequest, signal: AbortSignal) => Promise<OpenedAudio>;

/** Asks for each part as soon as the one before has come whole: while one is played, the next is on its way. */
export const prefetching = (open: OpenAudio): Transport => ({
  async *deliver(parts, wanted, signal) {
    const left = new AbortController();
    const either = AbortSignal.any([signal, left.signal]);
    const openAfter = (before: Promise<void>, part: TextPart | undefined) => {
      const opened = part && before.then(() => open(part, wanted, either));
      opened?.catch(() => {}); // told when its turn comes, if it comes
      return opened;
    };
    try {
      let next = openAfter(Promise.resolve(), parts[0]);
      for (const [index, part] of parts.entries()) {
        const { arrived, ...sound } = (await next) as OpenedAudio;
        const played = Promise.withResolvers<void>();
        next = openAfter(Promise.race([arrived, played.promise]), parts[index + 1]);
        yield { part, ...sound };
        played.resolve(); // a player need not read a sound to its end
      }
    } finally {
      left.abort();
    }
  },
});
