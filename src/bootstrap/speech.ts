import { catalog } from "../../projections/catalog.ts";
import { credentials } from "../../projections/credentials.ts";
import { monthlyQuota } from "../../projections/monthly-quota.ts";
import { platforms } from "../../projections/platforms.ts";
import { createByokVoices } from "../application/catalog/byok-voices.ts";
import { createVoiceReports, type ReportVoices } from "../application/catalog/voice-reports.ts";
import { createVoices, type Voices } from "../application/catalog/voices.ts";
import { createWebsiteCatalogs } from "../application/catalog/website-catalog.ts";
import { createDelivery, type Streaming, type Synthesis } from "../application/synthesis/delivery.ts";
import { createPlanner } from "../application/synthesis/planner.ts";
import { createLedger } from "../application/usage/ledger.ts";
import { createVoiding, type Voiding } from "../application/usage/voiding.ts";
import { nativeVoices } from "../domain/catalog/seed/native-voices.ts";
import { selfHostedVoices } from "../engines/self-hosted/voices.ts";
import { createCommandHandler } from "../eventstore/command-handler.ts";
import type { Core, Runtime } from "./core.ts";
import type { Sound } from "./sound.ts";

/** Voices and synthesis, with the ledger behind them. */
export interface Speech {
  readonly voices: Voices;
  readonly reportVoices: ReportVoices;
  readonly synthesis: Synthesis;
  readonly streaming: Streaming;
  readonly voiding: Voiding;
}

export const composeSpeech = (runtime: Runtime, core: Core, sound: Sound): Speech => {
  const { settings, clock, telemetry, resources, shutdownTimeLeft, onError } = runtime;
  const { store, handler, runner, execute } = core;
  const catalogOf = createWebsiteCatalogs({
    catalog: runner.view(catalog),
    byokVoices: createByokVoices(runner.view(credentials)),
    configuredVoices: selfHostedVoices(settings.selfHosted),
  });
  const voiding = createVoiding({
    openHandler: (options) => telemetry.commands(createCommandHandler({ store, clock, ...options })),
    clock,
    onError,
  });
  const ledger = createLedger({ handler, views: runner, quotas: runner.view(monthlyQuota), voiding, clock });
  resources.defer(() => ledger.close(shutdownTimeLeft()));
  const delivery = createDelivery({ pipeline: sound.pipeline, ledger, onError });
  return {
    voices: createVoices({ catalogOf, platforms: runner.view(platforms), nativeVoices }),
    reportVoices: createVoiceReports({ execute, catalog: runner.view(catalog), clock }),
    synthesis: { ...createPlanner({ ...sound, catalogOf }), ...delivery },
    streaming: telemetry.streaming(delivery),
    voiding,
  };
};
