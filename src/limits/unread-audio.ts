import type { AudioMemory, Streaming, WholeDelivery } from "../application/synthesis/delivery.ts";
import { RateLimited } from "../domain/errors.ts";

export interface UnreadAudioLimits {
  /** Open streams of one key. */
  readonly streamsPerKey: number;
  /** Of all audio that clients of one key have requested and not read yet. A new request may exceed it once. */
  readonly bytesPerKey: number;
}

/**
 * Counts the audio that is in memory because a key's clients have not read it yet. Clients that read slowly, or never, could
 * otherwise fill the memory with one key.
 */
export interface UnreadAudio {
  /** @throws {RateLimited} the key's clients have too much audio to read */
  requireRoom(apiKey: string): void;
  /** Counts the audio until the returned function is called. */
  hold(apiKey: string, audio: AudioMemory): () => void;
  /** Counts a stream, and its audio once that is known. @throws {RateLimited} the key has too many streams or too much audio */
  openStream(apiKey: string): OpenStream;
}

export interface OpenStream {
  /** The size may grow while the sound is synthesized. */
  holds(audio: AudioMemory): void;
  close(): void;
}

/** How many of a key's clients share each sound. */
type Holders = Map<AudioMemory, number>;

interface KeyAudio {
  /** Sounds that are complete, with the sum of their sizes. */
  readonly complete: Holders;
  completeBytes: number;
  /** The sounds of streams. At most as many as streams are open, so that summing them up is cheap. */
  readonly streamed: Holders;
  streams: number;
}

const retryAfterSeconds = 5;

const tooManyStreams = (limit: number): RateLimited =>
  new RateLimited(`The key has ${limit} open streams, the maximum.`, "streams", retryAfterSeconds);

const tooMuchUnread = (limit: number): RateLimited =>
  new RateLimited(
    `The key's clients have not read ${limit} bytes of audio that they requested, the maximum.`,
    "unread",
    retryAfterSeconds,
  );

export const createUnreadAudio = ({ streamsPerKey, bytesPerKey }: UnreadAudioLimits): UnreadAudio => {
  const keys = new Map<string, KeyAudio>();

  const audioOf = (apiKey: string): KeyAudio => {
    const known = keys.get(apiKey);
    if (known) return known;
    const none: KeyAudio = { complete: new Map(), completeBytes: 0, streamed: new Map(), streams: 0 };
    keys.set(apiKey, none);
    return none;
  };
  const forgetIfEmpty = (apiKey: string, { complete, streams }: KeyAudio): void => {
    if (streams === 0 && complete.size === 0) keys.delete(apiKey);
  };

  const requireRoom = (apiKey: string): void => {
    const audio = keys.get(apiKey);
    if (audio && bytesOf(audio) >= bytesPerKey) throw tooMuchUnread(bytesPerKey);
  };

  return {
    requireRoom,
    hold: (apiKey, audio) => {
      const key = audioOf(apiKey);
      if (addHolder(key.complete, audio)) key.completeBytes += audio.byteLength;
      return once(() => {
        if (removeHolder(key.complete, audio)) key.completeBytes -= audio.byteLength;
        forgetIfEmpty(apiKey, key);
      });
    },
    openStream: (apiKey) => {
      if ((keys.get(apiKey)?.streams ?? 0) >= streamsPerKey) throw tooManyStreams(streamsPerKey);
      requireRoom(apiKey);
      const key = audioOf(apiKey);
      key.streams++;
      let held: AudioMemory | undefined;
      let isOpen = true;
      return {
        holds: (audio) => {
          if (!isOpen || held) return;
          held = audio;
          addHolder(key.streamed, audio);
        },
        close: () => {
          if (!isOpen) return;
          isOpen = false;
          key.streams--;
          if (held) removeHolder(key.streamed, held);
          forgetIfEmpty(apiKey, key);
        },
      };
    },
  };
};

const bytesOf = ({ completeBytes, streamed }: KeyAudio): number => {
  let bytes = completeBytes;
  for (const { byteLength } of streamed.keys()) bytes += byteLength;
  return bytes;
};

/** True for the first holder. */
const addHolder = (holders: Holders, audio: AudioMemory): boolean => {
  const before = holders.get(audio) ?? 0;
  holders.set(audio, before + 1);
  return before === 0;
};

/** True for the last holder. */
const removeHolder = (holders: Holders, audio: AudioMemory): boolean => {
  const left = (holders.get(audio) ?? 0) - 1;
  if (left > 0) holders.set(audio, left);
  else holders.delete(audio);
  return left === 0;
};

const once = (run: () => void): (() => void) => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
};

/**
 * Refuses what would let a key's clients hold too much audio: before any work, and again when the sound is there. Holds a sound until the
 * context reports that its answer has ended, or, without such a report, until the stream has been read.
 */
export const limitUnreadAudio = <Delivery extends Pick<WholeDelivery, "deliver"> & Pick<Streaming, "begin">>(
  delivery: Delivery,
  unread: UnreadAudio,
): Delivery => ({
  ...delivery,
  deliver: async (plan, context, request) => {
    const { apiKey } = context.principal;
    unread.requireRoom(apiKey);
    const select: typeof request.select = (sound, onBegin) => {
      unread.requireRoom(apiKey);
      context.onAnswered?.(unread.hold(apiKey, sound.bytes.buffer));
      return request.select(sound, onBegin);
    };
    return await delivery.deliver(plan, context, { ...request, select });
  },
  begin: async (plan, context, signal) => {
    const open = unread.openStream(context.principal.apiKey);
    const { onAnswered } = context;
    onAnswered?.(open.close);
    try {
      const stream = await delivery.begin(plan, context, signal);
      open.holds(stream.memory);
      return onAnswered ? stream : { ...stream, audio: closeAfter(stream.audio, signal, open.close) };
    } catch (error) {
      open.close();
      throw error;
    }
  },
});

/** Calls `close` when the audio was read, its reader has left, or the signal is aborted. */
const closeAfter = (
  audio: AsyncIterable<Buffer>,
  signal: AbortSignal,
  close: () => void,
): AsyncIterable<Buffer> => {
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
  return (async function* () {
    try {
      yield* audio;
    } finally {
      signal.removeEventListener("abort", close);
      close();
    }
  })();
};
