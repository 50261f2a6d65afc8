import { type Limits, RateLimited, tryWithMore } from "../../limits/limits.ts";
import type { CompleteDelivery, Streaming } from "./delivery.ts";

type Limited = Pick<CompleteDelivery, "deliver" | "recordFromMemory"> & Pick<Streaming, "begin">;

/**
 * Refuses requests of any interface that would exceed a limit of the key, before any work. The
 * limit of unread audio is checked again once complete audio has been obtained. A request counts
 * until the context reports that its response has ended. If the context makes no such report, a
 * request counts until its stream has been read.
 */
export const limitDelivery = <Delivery extends Limited>(
  delivery: Delivery,
  { streams, unread }: Pick<Limits, "streams" | "unread">,
): Delivery => ({
  ...delivery,
  recordFromMemory: (plan, principal, requestId, audio, done) => {
    const { apiKey } = principal;
    const record = (): void => delivery.recordFromMemory(plan, principal, requestId, audio, done);
    try {
      unread.requireRoom(apiKey);
    } catch (refusal) {
      if (!(refusal instanceof RateLimited) || !refusal.more) throw refusal;
      const refuse = (error: Error): void => done(error, undefined);
      return void tryWithMore(() => unread.requireRoom(apiKey))
        .then(record)
        .catch(refuse);
    }
    record();
  },
  deliver: async (plan, context, part) => {
    const { principal, signal, onSent } = context;
    const { apiKey } = principal;
    const select: typeof part.select = async (audio, onBegin) => {
      await tryWithMore(() => {
        unread.requireRoom(apiKey);
        onSent?.(unread.hold(apiKey, audio.bytes.buffer));
      }, signal);
      return await part.select(audio, onBegin);
    };
    await tryWithMore(() => unread.requireRoom(apiKey), signal);
    return await delivery.deliver(plan, context, { ...part, select });
  },
  begin: async (plan, context, signal) => {
    const { principal, onSent } = context;
    const { apiKey } = principal;
    const held = new DisposableStack();
    const release = (): void => held.dispose();
    try {
      held.defer(await tryWithMore(() => streams.acquire(apiKey), signal));
      await tryWithMore(() => unread.requireRoom(apiKey), signal);
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
