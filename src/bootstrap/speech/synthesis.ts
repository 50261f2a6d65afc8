import { catalog } from "../../../projections/catalog.ts";
import { credentials } from "../../../projections/credentials.ts";
import { lexicons } from "../../../projections/lexicons.ts";
import { platforms } from "../../../projections/platforms.ts";
import { createFindActiveKey } from "../../application/access/active-key.ts";
import type { NamingKey } from "../../application/accounts/naming-key.ts";
import { createArticles } from "../../application/articles/articles.ts";
import { createAudioAddresses } from "../../application/articles/audio-addresses.ts";
import { createPartSpeaker } from "../../application/articles/part-speaker.ts";
import { createPromisedAudio } from "../../application/articles/promised-audio.ts";
import { createByokVoices } from "../../application/catalog/byok-voices.ts";
import { createVoiceReports } from "../../application/catalog/voice-reports.ts";
import { createVoices } from "../../application/catalog/voices.ts";
import { type CatalogOf, createWebsiteCatalogs } from "../../application/catalog/website-catalog.ts";
import { createWebsiteLexicons } from "../../application/lexicons/website-lexicons.ts";
import { createAudioNames } from "../../application/synthesis/audio-names.ts";
import { createDelivery } from "../../application/synthesis/delivery.ts";
import { createIdempotencyDigests } from "../../application/synthesis/idempotency-digests.ts";
import { limitDelivery } from "../../application/synthesis/limit-delivery.ts";
import { createMarksWithPhonemes } from "../../application/synthesis/marks-with-phonemes.ts";
import { createPlanner } from "../../application/synthesis/planner.ts";
import { backgroundTime } from "../../async/time.ts";
import { nativeVoices } from "../../domain/catalog/seed/native-voices.ts";
import { configuredVoices } from "../../engines/configured-voices.ts";
import { voicesOfServers } from "../../engines/self-hosted/engine.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Access } from "../access.ts";
import type { Core, Runtime } from "../core.ts";
import type { AudioParts } from "./audio.ts";

export type SynthesisParts = ReturnType<typeof composeSynthesis>;

/**
 * Composes the voices of each website, including the voices of this instance's servers and models.
 */
export const composeCatalogs = (
  { settings }: Pick<Runtime, "settings">,
  { runner }: Pick<Core, "runner">,
  { modelVoices }: Pick<AudioParts, "modelVoices">,
): CatalogOf => {
  const configured = [...voicesOfServers(settings.selfHosted), ...modelVoices];
  return createWebsiteCatalogs({
    catalog: runner.view(catalog),
    byokVoices: createByokVoices(runner.view(credentials)),
    configuredVoices: configuredVoices(configured),
  });
};

/** Composes voices and synthesis. */
export const composeSynthesis = (
  { settings, clock, telemetry, resources }: Runtime,
  { runner, execute }: Core,
  audio: AudioParts,
  ledger: Ledger,
  { limits, authenticator }: Access,
  { key: namingKey }: NamingKey,
) => {
  const catalogOf = composeCatalogs({ settings }, { runner }, audio);
  const websiteLexicons = createWebsiteLexicons(runner.view(lexicons));
  const { sharesAudio } = settings;
  const { departures } = limits;
  const delivery = limitDelivery(createDelivery({ pipeline: audio.pipeline, ledger, departures }), limits);
  const planner = createPlanner({ ...audio, namingKey, sharesAudio, catalogOf, lexicons: websiteLexicons });
  const findActiveKey = createFindActiveKey(authenticator);
  const speaker = createPartSpeaker({ pipeline: audio.pipeline, findActiveKey, time: backgroundTime });
  const articles = createArticles({
    ...planner,
    ...limits,
    ledger,
    pipeline: audio.pipeline,
    speaker,
    clock,
  });
  resources.defer(articles.close);
  return {
    catalogOf,
    articles,
    audioAddresses: createAudioAddresses({ ...audio, namingKey, findActiveKey, clock }),
    promisedAudio: createPromisedAudio({ audioReads: audio.pipeline, speaker, time: backgroundTime }),
    audioNames: createAudioNames({ ...planner, ledger }),
    voices: createVoices({ catalogOf, platforms: runner.view(platforms), nativeVoices }),
    reportVoices: createVoiceReports({ execute, catalog: runner.view(catalog), clock }),
    synthesis: {
      ...createIdempotencyDigests(namingKey),
      ...planner,
      ...delivery,
    },
    marksWithPhonemes: createMarksWithPhonemes(audio.pipeline),
    streaming: telemetry.streaming(delivery),
  };
};
