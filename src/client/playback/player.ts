import type { PlaybackProsody } from "../prosody.ts";
import type { Delivery } from "../transport/transport.ts";

export interface Playback {
  readonly prosody: PlaybackProsody;
  /** Raised when it must fall silent. */
  readonly signal: AbortSignal;
  /** To be called once, when the first sound is heard. */
  onStart(): void;
}

/** Makes audio heard, one sound at a time. */
export interface Player {
  /** Resolves when the sound was played to its end, or its signal was raised. @throws {VoxledgerError} */
  play(delivery: Delivery, playback: Playback): Promise<void>;
  /** Halts what is played, and nothing when nothing is. */
  pause(): void;
  resume(): void;
  /**
   * Called in the call stack of every `speak`, before anything is awaited: some browsers let only what begins to play in
   * a user's gesture play by itself later.
   */
  unlock?(): void;
}

/** A sound for a function to play. */
export interface PlayableSound {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  readonly prosody: PlaybackProsody;
  readonly signal: AbortSignal;
}

/** Plays a sound, or stores it, or sends it on; when it is done, the next one comes. */
export type PlaySound = (sound: PlayableSound) => void | Promise<void>;

/** Hands each sound to a function, where there is no browser to play it. A pause takes effect before the next one. */
export const functionPlayer = (play: PlaySound): Player => ({
  play: async (delivery, { prosody, signal, onStart }) => {
    const bytes = await readAll(delivery.audio);
    if (signal.aborted) return;
    onStart();
    if (bytes.length > 0) await play({ bytes, contentType: delivery.contentType, prosody, signal });
  },
  pause: () => {},
  resume: () => {},
});

/** All the bytes, in one piece. */
export const readAll = async (
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
): Promise<Uint8Array<ArrayBuffer>> => {
  const all: Uint8Array<ArrayBuffer>[] = [];
  for await (const piece of pieces) all.push(piece);
  const [only] = all;
  if (only && all.length === 1) return only;
  const joined = new Uint8Array(all.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of all) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
};
