import { once, type Release } from "./limit.ts";
import { type AskForMore, type Shares, wholeLimit } from "./shares.ts";

/** Audio in memory. */
interface HeldAudio {
  /** May grow while the audio is synthesized. */
  readonly byteLength: number;
}

/**
 * Counts the audio that is in memory because a key's clients have not read it yet. Clients that
 * read slowly, or never, could otherwise fill the memory with one key. Audio that several clients
 * share counts once.
 */
export interface UnreadAudio {
  /**
   * Refuses a new request if the key's unread audio has reached the limit. The audio of a request
   * that is not refused may exceed it.
   * @throws the refusal
   */
  requireRoom(key: string): void;
  /** Counts complete audio until it is released. */
  hold(key: string, audio: HeldAudio): Release;
  /** Counts the audio of a stream until it is released. */
  holdStreamed(key: string, audio: HeldAudio): Release;
}

/** The audio in memory, with the number of the key's clients that share it. */
type Holders = Map<HeldAudio, number>;

interface KeyAudio {
  /** Complete audio. `completeBytes` is the sum of its sizes. */
  readonly complete: Holders;
  completeBytes: number;
  /**
   * The audio of streams. A key may have only a limited number of open streams, so summing up their
   * sizes is cheap.
   */
  readonly streamed: Holders;
}

export const createUnreadAudio = (
  bytesPerKey: number,
  refusal: (bytesPerKey: number, more: AskForMore | undefined) => Error,
  openShares: (used: (key: string) => number) => Shares = () => wholeLimit,
): UnreadAudio => {
  const keys = new Map<string, KeyAudio>();
  const bytesOfKey = (key: string): number => {
    const audio = keys.get(key);
    return audio ? bytesOf(audio) : 0;
  };
  const shares = openShares(bytesOfKey);

  const audioOf = (key: string): KeyAudio => {
    const known = keys.get(key);
    if (known) return known;
    const none: KeyAudio = { complete: new Map(), completeBytes: 0, streamed: new Map() };
    keys.set(key, none);
    return none;
  };
  const forgetIfEmpty = (key: string, { complete, streamed }: KeyAudio): void => {
    if (complete.size === 0 && streamed.size === 0) keys.delete(key);
  };

  return {
    requireRoom: (key) => {
      if (bytesOfKey(key) < shares.of(key, bytesPerKey)) return;
      throw refusal(bytesPerKey, shares.more(key, bytesPerKey));
    },
    hold: (key, audio) => {
      const held = audioOf(key);
      if (addHolder(held.complete, audio)) held.completeBytes += audio.byteLength;
      return once(() => {
        if (removeHolder(held.complete, audio)) held.completeBytes -= audio.byteLength;
        forgetIfEmpty(key, held);
      });
    },
    holdStreamed: (key, audio) => {
      const held = audioOf(key);
      addHolder(held.streamed, audio);
      return once(() => {
        removeHolder(held.streamed, audio);
        forgetIfEmpty(key, held);
      });
    },
  };
};

const bytesOf = ({ completeBytes, streamed }: KeyAudio): number => {
  let bytes = completeBytes;
  for (const { byteLength } of streamed.keys()) bytes += byteLength;
  return bytes;
};

/** Returns true for the first holder. */
const addHolder = (holders: Holders, audio: HeldAudio): boolean => {
  const before = holders.get(audio) ?? 0;
  holders.set(audio, before + 1);
  return before === 0;
};

/** Returns true for the last holder. */
const removeHolder = (holders: Holders, audio: HeldAudio): boolean => {
  const left = (holders.get(audio) ?? 0) - 1;
  if (left > 0) holders.set(audio, left);
  else holders.delete(audio);
  return left === 0;
};
