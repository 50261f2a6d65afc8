import type { PlaybackProsody } from "../prosody.ts";
import type { Delivery } from "../transport/transport.ts";
import type { Boundary } from "./boundaries.ts";

/** Seconds of the audio at its own speed, whatever the speed of its playback. */
export interface PlaybackPosition {
  readonly seconds: number;
  /** Undefined until it is known. */
  readonly duration: number | undefined;
}

export interface Playback {
  readonly prosody: PlaybackProsody;
  /** Aborted to stop playback. */
  readonly signal: AbortSignal;
  /** Returns the time at which playback begins, in seconds. Default: at the beginning. */
  readonly startTime?: ((duration: number) => number) | undefined;
  /** Must be called once, at the first audible sound. */
  onStart(): void;
  /**
   * The beginnings of words and sentences, if the caller asks for them and the service knows them.
   */
  readonly boundaries?: Promise<readonly Boundary[]>;
  /** Players that know their position call this for each boundary when they reach it. */
  onBoundary?(boundary: Boundary): void;
}

/** Plays the audio of one part at a time. */
export interface Player {
  /**
   * Resolves when the audio was played to its end, or the signal was aborted.
   * @throws {VoxledgerError}
   */
  play(delivery: Delivery, playback: Playback): Promise<void>;
  /** Has no effect if nothing is playing. */
  pause(): void;
  resume(): void;
  /** Multiplies the playback rate of the current part and of all later ones. */
  setSpeed?(speed: number): void;
  readonly position?: PlaybackPosition | undefined;
  /**
   * Called synchronously by every `speak`: in some browsers an element can play by itself only
   * after it has played during a user gesture.
   */
  unlock?(): void;
}

/** The audio of one part, for a function to play. */
export interface PlayableSound {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  readonly prosody: PlaybackProsody;
  readonly signal: AbortSignal;
}

/**
 * Plays, stores or forwards the audio of one part. The next part follows when its promise resolves.
 */
export type PlaySound = (sound: PlayableSound) => void | Promise<void>;

/**
 * Calls a function with the audio of each part, for environments without a browser. A pause applies
 * to the next part.
 */
export const functionPlayer = (play: PlaySound): Player => ({
  play: async ({ audio, contentType }, { prosody, signal, onStart }) => {
    const blob = await readBlob(audio, contentType);
    const bytes = new Uint8Array(await blob.arrayBuffer());
    if (signal.aborted) return;
    onStart();
    if (bytes.length > 0) await play({ bytes, contentType, prosody, signal });
  },
  pause: () => {},
  resume: () => {},
});

export const readBlob = async (
  chunks: AsyncIterable<Uint8Array<ArrayBuffer>>,
  contentType: string,
): Promise<Blob> => {
  const all: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return new Blob(all, { type: contentType });
};
