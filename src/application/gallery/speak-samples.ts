import { sleep } from "../../async/sleep.ts";
import type { Time } from "../../async/time.ts";
import type { Pipeline, Rendition } from "../../audio/pipeline/pipeline.ts";
import { ServiceError, Unavailable } from "../../domain/errors.ts";
import { audioDecider, audioStream, recordSample } from "../../domain/synthesis/audio-events.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { ExecuteCommand } from "../execute-command.ts";
import type { Gallery, GalleryVoice } from "./gallery.ts";

export interface SampleCounts {
  readonly voices: number;
  /** The number of missing samples that were spoken. */
  readonly spoken: number;
  /** The reasons of failures, by the names of the voices. */
  readonly failed: Readonly<Record<string, string>>;
}

interface SpeakSamplesOptions {
  readonly gallery: Gallery;
  readonly pipeline: Pick<Pipeline, "obtain" | "statAudio">;
  readonly execute: ExecuteCommand;
  /** True if no request waits for an engine or is being synthesized. */
  readonly isIdle: () => boolean;
  readonly clock: () => EpochMs;
  readonly time: Time;
  /** The rest after each sample, as a multiple of the time that it took. Default: 0. */
  readonly rest?: number;
}

const idlePollMs = 250;

/**
 * Speaks the samples that the store lacks, one at a time. Each one begins while no request needs an
 * engine. A voice is checked once for each new list of the gallery.
 */
export const createSpeakSamples = ({
  gallery,
  pipeline,
  execute,
  isIdle,
  clock,
  time,
  rest = 0,
}: SpeakSamplesOptions) => {
  const checked = new WeakSet<GalleryVoice>();

  const isMissing = async (voice: GalleryVoice, signal: AbortSignal): Promise<boolean> =>
    !gallery.isSpoken(voice) || !(await pipeline.statAudio(voice.sample.name, signal));

  /** The end of the rest after the last sample. */
  let restsUntil = time.now();

  const awaitTurn = async (signal: AbortSignal): Promise<void> => {
    const restMs = restsUntil - time.now();
    if (restMs > 0) await sleep(restMs, { time, signal });
    while (!isIdle()) await sleep(idlePollMs, { time, signal });
  };

  /** The time that a failed synthesis takes counts, too. */
  const synthesize = async (sample: Rendition, signal: AbortSignal): Promise<void> => {
    const began = time.now();
    try {
      await pipeline.obtain([sample], signal);
    } finally {
      const ended = time.now();
      restsUntil = ended + rest * (ended - began);
    }
  };

  const speak = async ({ sample }: GalleryVoice, signal: AbortSignal): Promise<void> => {
    await awaitTurn(signal);
    await synthesize(sample, signal);
    const { hash, voice, recipe } = sample;
    const { engine, lang, format } = recipe;
    const at = new Date(clock()).toISOString();
    const spoken = { hash, engine, voice, lang, format, at };
    await execute(audioDecider, audioStream, (samples) => recordSample(samples, spoken), { actor: "system" });
  };

  /**
   * @throws {Unavailable} if the engines, the stores or the views are unavailable
   * @throws the signal's reason
   */
  return async (signal: AbortSignal): Promise<SampleCounts> => {
    const voices = await gallery.voices();
    const failed: Record<string, string> = {};
    let spoken = 0;
    for (const voice of voices) {
      if (checked.has(voice)) continue;
      try {
        if (await isMissing(voice, signal)) {
          await speak(voice, signal);
          spoken += 1;
        }
      } catch (error) {
        if (!(error instanceof ServiceError) || error instanceof Unavailable) throw error;
        failed[voice.names.join(", ")] = error.loggable;
      }
      checked.add(voice);
    }
    return { voices: voices.length, spoken, failed };
  };
};
