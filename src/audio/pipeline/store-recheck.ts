import type { Time } from "../../async/time.ts";
import type { AudioContent, AudioName } from "../store/audio-store.ts";
import type { Rendition } from "./audio.ts";
import type { RenderedAudio, Renderer, RenderOptions } from "./renderer.ts";
import { inChunks } from "./shared-stream.ts";

export interface StoreRecheck {
  readonly renderer: Renderer;
  /** Resolves with the audio if it is in the store by now. An unavailable store counts as empty. */
  readonly recheck: (name: AudioName, signal: AbortSignal) => Promise<AudioContent | undefined>;
  readonly time: Time;
  /** Called if the audio is in the store. */
  readonly onFound: () => void;
  /** Called when an engine begins to work. */
  readonly onBegin: () => void;
}

/** A synthesis that starts this soon after the first lookup needs no second lookup. */
const freshMs = 100;

/**
 * Synthesizes, unless another instance stored the audio while this one waited for its slot. There
 * is no lock: two instances that start at the same moment both synthesize it. Their bytes may
 * differ. The store keeps those that were written first, which then replace the others in memory
 * (`StoreWriterOptions.onKept`).
 */
export const renderUnlessStored = async function* (
  { renderer, recheck, time, onFound, onBegin }: StoreRecheck,
  rendition: Rendition,
  options: RenderOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer, RenderedAudio> {
  const began = time.now();
  const beforeStart = async (): Promise<void> => {
    const audio = time.now() - began < freshMs ? undefined : await recheck(rendition.name, signal);
    if (audio) throw new FoundInStore(audio);
    onBegin();
  };
  try {
    return yield* renderer.render(rendition, { ...options, beforeStart }, signal);
  } catch (error) {
    if (!(error instanceof FoundInStore)) throw error;
    onFound();
    yield* inChunks(error.audio.bytes);
    return {};
  }
};

/**
 * This error is thrown before an engine begins, so that the slot is released unused. Engines pass
 * it on unchanged, because neither they nor their providers have failed.
 */
export class FoundInStore extends Error {
  override readonly name = "FoundInStore";
  readonly audio: AudioContent;

  constructor(audio: AudioContent) {
    super("The audio is in the store.");
    this.audio = audio;
  }
}
