import type { Clock } from "../../async/clock.ts";
import type { Rendition, SoundLength } from "../formats/sound.ts";
import type { ObjectName } from "../store/audio-store.ts";
import type { Renderer, RenderOptions } from "./renderer.ts";
import { inChunks } from "./shared-stream.ts";

export interface StoreRecheck {
  readonly renderer: Renderer;
  /** The sound if it is in the store by now; a store out of order counts as one that has nothing. */
  readonly recheck: (name: ObjectName, signal: AbortSignal) => Promise<Buffer | undefined>;
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
export const renderUnlessStored = async function* (
  { renderer, recheck, clock, onFound }: StoreRecheck,
  rendition: Rendition,
  options: RenderOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer, SoundLength | undefined> {
  const began = clock.now();
  const beforeStart = async (): Promise<void> => {
    const sound = clock.now() - began < freshMs ? undefined : await recheck(rendition.name, signal);
    if (sound) throw new FoundInStore(sound);
  };
  try {
    return yield* renderer.render(rendition, { ...options, beforeStart }, signal);
  } catch (error) {
    if (!(error instanceof FoundInStore)) throw error;
    onFound();
    yield* inChunks(error.sound);
    return undefined;
  }
};

/** Gives a turn back unused: no failure of anybody's. Passes through the engine as whatever is neither its failure nor its upstream's. */
export class FoundInStore extends Error {
  override readonly name = "MadeElsewhere";
  readonly sound: Buffer;

  constructor(sound: Buffer) {
    super("The sound has been made meanwhile.");
    this.sound = sound;
  }
}
