import { samples } from "../../../projections/samples.ts";
import type { NamingKey } from "../../application/accounts/naming-key.ts";
import type { CatalogOf } from "../../application/catalog/website-catalog.ts";
import { createGallery } from "../../application/gallery/gallery.ts";
import { createSpeakSamples } from "../../application/gallery/speak-samples.ts";
import { createPlanner } from "../../application/synthesis/planner.ts";
import { repeat } from "../../async/repeat.ts";
import { backgroundTime } from "../../async/time.ts";
import type { Core, Runtime } from "../core.ts";
import type { AudioParts } from "./audio.ts";

/**
 * Composes the gallery of voices at `/voices`. Its samples belong to no website, whatever
 * AUDIO_SHARING is.
 */
export const composeGallery = (
  { clock }: Pick<Runtime, "clock">,
  { runner }: Pick<Core, "runner">,
  audio: AudioParts,
  catalogOf: CatalogOf,
  { key: namingKey }: NamingKey,
) => {
  const lexicons = { isEmpty: () => true, has: () => false, of: () => undefined };
  const { plan } = createPlanner({ ...audio, namingKey, sharesAudio: true, catalogOf, lexicons });
  return createGallery({ catalogOf, plan, samples: runner.view(samples), clock });
};

export const composeSpeakSamples = (
  { clock }: Pick<Runtime, "clock">,
  { execute, scheduler }: Pick<Core, "execute" | "scheduler">,
  { pipeline }: Pick<AudioParts, "pipeline">,
  gallery: ReturnType<typeof composeGallery>,
  { rest = 0 } = {},
) => {
  const isIdle = (): boolean => scheduler.stats().every(({ running, queued }) => running + queued === 0);
  return createSpeakSamples({ gallery, pipeline, execute, isIdle, clock, time: backgroundTime, rest });
};

/** The first samples wait this long after a start, because requests are more urgent. */
const firstMs = 10_000;
/** A changed catalog waits at most this long for its samples. */
const intervalMs = 60_000;

/**
 * Samples take at most a seventh of the engines' time, because requests that arrive during a sample
 * are slower.
 */
const rest = 6;

/** Speaks the samples of new voices in the background. */
export const scheduleSamples = (
  runtime: Pick<Runtime, "clock" | "log" | "resources" | "onError">,
  core: Pick<Core, "execute" | "scheduler">,
  audio: Pick<AudioParts, "pipeline">,
  gallery: ReturnType<typeof composeGallery>,
): void => {
  const { log, resources, onError } = runtime;
  const speakSamples = composeSpeakSamples(runtime, core, audio, gallery, { rest });
  const task = async (signal: AbortSignal): Promise<number> => {
    const { spoken, failed } = await speakSamples(signal);
    if (spoken > 0) log.info({ spoken }, "samples of voices were spoken for the gallery");
    if (Object.keys(failed).length > 0) log.warn({ failed }, "voices could not speak their samples");
    return intervalMs;
  };
  const fail = (error: unknown): void => onError("the samples of voices cannot be spoken", error);
  resources.defer(repeat({ task, firstMs, retryMs: intervalMs, time: backgroundTime, onError: fail }));
};
