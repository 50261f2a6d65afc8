import type { TextPart } from "../text-parts.ts";
import type { Delivery, Transport, VoiceRequest } from "./transport.ts";

/**
 * Delivers the audio of the parts in order. Requests each part as soon as the previous one has been received, so that it
 * is loaded while that one plays. Ending the iteration or aborting the signal ends all requests in flight.
 * @throws {VoxledgerError}
 */
export async function* deliverParts(
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
