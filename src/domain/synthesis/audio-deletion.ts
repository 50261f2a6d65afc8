import { type ShapesOf, text, utcTime } from "../shape.ts";

/** Deletions of audio by operators. Stream `audio`. What retention removes is not recorded: it may be made again. */
export type AudioEvent = {
  readonly type: "AudioDeleted";
  /** `at`: ISO 8601, UTC. */
  readonly data: { readonly hash: string; readonly at: string };
};

export const audioStream = "audio";

/** No decision depends on earlier deletions. */
export const audioDecider = { initial: () => undefined, evolve: (): undefined => undefined };

export const audioShapes: ShapesOf<AudioEvent> = { AudioDeleted: { hash: text, at: utcTime } };
