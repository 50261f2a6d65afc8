import type { Clock } from "../../async/sleep.ts";
import type { Take } from "../formats/sound.ts";
import type { SoundLength } from "../formats/sound-length.ts";
import type { ObjectName } from "../store/audio-store.ts";
import type { Speaker, SpeakerOptions } from "./renderer.ts";
import { pieces } from "./shared-stream.ts";

export interface SecondLook {
  readonly speaker: Speaker;
  /** The sound if it is in the store by now; a store out of order counts as one that has nothing. */
  readonly look: (name: ObjectName, signal: AbortSignal) => Promise<Buffer | undefined>;
  readonly clock: Clock;
  /** Told when it is there. */
  readonly onFound: () => void;
}

/** Who begins so soon after the first look needs no other. */
const freshMs = 100;

/**
 * Speaks, unless the sound was made elsewhere while this waited for its turn, by another instance on the same store:
 * then it is that sound. Nothing is locked for it: two that begin at the same moment both make it, to the same bytes.
 */
export const speakUnlessMade = async function* (
  { speaker, look, clock, onFound }: SecondLook,
  take: Take,
  options: SpeakerOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer, SoundLength | undefined> {
  const began = clock.now();
  const onTurn = async (): Promise<void> => {
    const sound = clock.now() - began < freshMs ? undefined : await look(take.name, signal);
    if (sound) throw new MadeElsewhere(sound);
  };
  try {
    return yield* speaker.speak(take, { ...options, onTurn }, signal);
  } catch (error) {
    if (!(error instanceof MadeElsewhere)) throw error;
    onFound();
    yield* pieces(error.sound);
    return undefined;
  }
};

/** Gives a turn back unused: no failure of anybody's. Passes through the engine as whatever is neither its failure nor its upstream's. */
export class MadeElsewhere extends Error {
  override readonly name = "MadeElsewhere";
  readonly sound: Buffer;

  constructor(sound: Buffer) {
    super("The sound has been made meanwhile.");
    this.sound = sound;
  }
}
