import { type EventOf, text, utcTime } from "../shape.ts";

/** Deletions of audio by operators. Stream `audio`. What retention removes is not recorded: it may be made again. */
export const audioShapes = { AudioDeleted: { hash: text, at: utcTime } };
export type AudioEvent = EventOf<typeof audioShapes>;

export const audioStream = "audio";

/** No decision depends on earlier deletions. */
export const audioDecider = { initial: () => undefined, evolve: (): undefined => undefined };
