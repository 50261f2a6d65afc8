import { type Limits, RateLimited, tryWithMore } from "../../limits/limits.ts";
import type { CompleteDelivery, Streaming } from "./delivery.ts";

type Limited = Pick<CompleteDelivery, "deliver" | "recordFromMemory"> & Pick<Streaming, "begin">;

/**
 * Refuses requests of any interface that would exceed a limit of the key, before any work. For
 * audio in memory, it decides again when the audio is there. A request counts until the context
 * reports that its response has ended, or, without such a report, until its stream has been read.
 */
export const limitDelivery = <Delivery extends Limited>(
  delivery: Delivery,
  { streams, unread }: Pick<Limits, "streams" | "unread">,
): Delivery => ({
  ...delivery,
  recordFromMemory: (plan, principal, requestId, audio, done) => {
    const record = (): void => {
      unread.requireRoom(principal.apiKey);
      delivery.recordFromMemory(plan, principal, requestId, audio, done);
    };
    try {
      record();
    } catch (error) {
      if (!(error instanceof RateLimited) || !error.more) throw error;
      tryWithMore(record).catch((refusal) => done(refusal, undefined));
    }
  },
  deliver: async (plan, context, part) => {
    const { apiKey } = context.principal;
    const select: typeof part.select = (audio, onBegin) => {
      unread.requireRoom(apiKey);
      context.onSent?.(unread.hold(apiKey, audio.bytes.buffer));
      return part.select(audio, onBegin);
    };
    return await tryWithMore(async () => {
      unread.requireRoom(apiKey);
      return await delivery.deliver(plan, context, { ...part, select });
    });
  },
  begin: async (plan, context, signal) => {
    const { principal, onSent } = context;
    const { apiKey } = principal;
    const held = new DisposableStack();
    const release = (): void => held.dispose();
    try {
      held.defer(await tryWithMore(() => streams.acquire(apiKey)));
      await tryWithMore(() => unread.requireRoom(apiKey));
      onSent?.(release);
      const stream = await delivery.begin(plan, context, signal);
      if (!held.disposed) held.defer(unread.holdStreamed(apiKey, stream.memory));
      return onSent ? stream : { ...stream, audio: releaseAfter(stream.audio, signal, release) };
    } catch (error) {
      release();
      throw error;
    }
  },
});

/**
 * Calls `release` when the audio was read, its reader has disconnected, or the signal is aborted.
 */
const releaseAfter = (
  audio: AsyncIterable<Buffer>,
  signal: AbortSignal,
  release: () => void,
): AsyncIterable<Buffer> => {
  if (signal.aborted) release();
  else signal.addEventListener("abort", release, { once: true });
  return (async function* () {
    try {
      yield* audio;
    } finally {
      signal.removeEventListener("abort", release);
      release();
    }
  })();
};
