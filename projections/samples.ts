import { audioDecider, audioStream, type Samples } from "../src/domain/synthesis/audio-events.ts";
import { streamProjection } from "./projection.ts";
import type { View } from "./runner/view.ts";

/** The samples of the gallery. One partition, `audio`. */
export const samples = streamProjection("samples", 1, audioStream, audioDecider);

export const isSampleSpoken = (view: View<Samples>, hash: string): boolean =>
  Object.hasOwn(view.get(audioStream)?.spoken ?? {}, hash);
