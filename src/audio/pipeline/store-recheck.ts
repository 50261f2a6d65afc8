import type { Clock } from "../../async/clock.ts";
import type { AudioObject, ObjectName } from "../store/audio-store.ts";
import type { RenderedSound, Renderer, RenderOptions } from "./renderer.ts";
import { inChunks } from "./shared-stream.ts";
import type { Rendition } from "./sound.ts";

export interface StoreRecheck {
  readonly renderer: Renderer;
  /** The sound, if it is in the store by now; an unavailable store counts as empty. */
  readonly recheck: (name: ObjectName, signal: AbortSignal) => Promise<AudioObject | undefined>;
  readonly clock: Clock;
  /** Called if it is there. */
  readonly onFound: () => void;
  /** Called when an engine begins to work. */
  readonly onBegin: () => void;
}

/** A synthesis that starts this soon after the first lookup needs no second one. */
const freshMs = 100;

/**
 * Synthesizes, unless another instance stored the sound while this one waited for its slot. There is no lock: two
 * instances that start at the same moment both synthesize it. Their bytes may differ; the store keeps the first, which
 * then replace the others in memory (StoreWriterOptions.onKept).
 */
export const renderUnlessStored = async function* (
  { renderer, recheck, clock, onFound, onBegin }: StoreRecheck,
  rendition: Rendition,
  options: RenderOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer, RenderedSound> {
  const began = clock.now();
  const beforeStart = async (): Promise<void> => {
    const sound = clock.now() - began < freshMs ? undefined : await recheck(rendition.name, signal);
    if (sound) throw new FoundInStore(sound);
    onBegin();
  };
  try {
    return yield* renderer.render(rendition, { ...options, beforeStart }, signal);
  } catch (error) {
    if (!(error instanceof FoundInStore)) throw error;
    onFound();
    yield* inChunks(error.sound.bytes);
    return {};
  }
};

/** Releases the slot unused. It is neither the engine's failure nor its provider's, so it passes through unchanged. */
export class FoundInStore extends Error {
  override readonly name = "FoundInStore";
  readonly sound: AudioObject;

  constructor(sound: AudioObject) {
    super("The sound is in the store.");
    this.sound = sound;
  }
}
