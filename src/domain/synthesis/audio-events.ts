import { code, type DataOf, type EventOf, text, utcTime } from "../shape.ts";
import type { AudioFormat } from "./formats.ts";
import type { EngineCode } from "./speech.ts";

/**
 * Events of audio that no request for speech causes. Stream `audio`. Audio that retention removes
 * is not recorded, because it may be made again.
 */
export const audioShapes = {
  /** An operator deleted it. */
  AudioDeleted: { hash: text, at: utcTime },
  /**
   * A voice has spoken the sample of its language for the gallery. No key is charged, and the text
   * is not recorded.
   */
  SampleSpoken: {
    hash: text,
    engine: code<EngineCode>(),
    /** A friendly name, or the system voice's name. */
    voice: text,
    lang: text,
    format: code<AudioFormat>(),
    at: utcTime,
  },
};
export type AudioEvent = EventOf<typeof audioShapes>;
export type SampleSpoken = DataOf<typeof audioShapes.SampleSpoken>;

export const audioStream = "audio";

/** The hashes of the samples that were spoken, except those that were deleted since. */
export interface Samples {
  readonly spoken: Readonly<Record<string, true>>;
}

export const audioDecider = {
  initial: (): Samples => ({ spoken: {} }),
  evolve: (samples: Samples, { type, data }: AudioEvent): Samples => {
    if (type === "SampleSpoken") return { spoken: { ...samples.spoken, [data.hash]: true } };
    if (type !== "AudioDeleted" || !Object.hasOwn(samples.spoken, data.hash)) return samples;
    const { [data.hash]: _, ...spoken } = samples.spoken;
    return { spoken };
  },
};

export const recordSample = ({ spoken }: Samples, sample: SampleSpoken): AudioEvent[] =>
  Object.hasOwn(spoken, sample.hash) ? [] : [{ type: "SampleSpoken", data: sample }];
