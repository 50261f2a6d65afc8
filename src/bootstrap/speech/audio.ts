import { credentials } from "../../../projections/credentials.ts";
import type { NamingKey } from "../../application/accounts/naming-key.ts";
import { createProviderClients } from "../../application/accounts/provider-clients.ts";
import type { Check } from "../../application/health/health.ts";
import type { FindEngine } from "../../application/synthesis/planner.ts";
import type { Scheduler } from "../../async/scheduler/scheduler.ts";
import { ffmpegDecoder } from "../../audio/formats/ffmpeg-decoder.ts";
import { ffmpegEncoder } from "../../audio/formats/ffmpeg-encoder.ts";
import { createMemoryCache } from "../../audio/pipeline/memory-cache.ts";
import { createPipeline, type PipelineOptions } from "../../audio/pipeline/pipeline.ts";
import { isByok } from "../../domain/synthesis/byok-providers.ts";
import { noVersion } from "../../engines/engine.ts";
import { findClassicTools, localEngines } from "../../engines/local/engine.ts";
import { japaneseReadings } from "../../engines/local/japanese/japanese-readings.ts";
import type { Settings } from "../../settings/read-settings.ts";
import { openSubprocessHost, type SubprocessHost } from "../../subprocess/subprocess-host.ts";
import type { superviseHostProcess } from "../../subprocess/supervisor.ts";
import type { Core, Runtime } from "../core.ts";
import { composeUseReports, openAudioStore } from "./audio-store.ts";
import { composeModels } from "./models.ts";
import { composeNaturalVoices } from "./natural-voices.ts";
import { composeFreeEngines } from "./providers.ts";

export type AudioParts = Awaited<ReturnType<typeof composeAudio>>;

/**
 * Starts the process of the speech tools, and lists their voices. This needs no other part of the
 * service. `composeAudio` reports its failure. `resources` end it if a later step of the start
 * fails. Otherwise it is closed before the audio store.
 */
export const openSpeechTools = (
  { synthesisConcurrency: concurrency }: Settings,
  scheduler: Scheduler,
  {
    log,
    resources,
    superviseHelper,
  }: Pick<Runtime, "log" | "resources"> & {
    readonly superviseHelper?: typeof superviseHostProcess;
  },
): Pick<Runtime, "host" | "classicTools"> => {
  const warn = (message: string) => log.warn(message);
  const failed = new AbortController();
  const host = openSubprocessHost({
    ...{ concurrency, scheduler, warn, signal: failed.signal },
    ...(superviseHelper && { superviseHelper }),
  });
  resources.defer(async () => {
    failed.abort();
    await host.then(
      ({ close }) => close(),
      () => {},
    );
  });
  const classicTools = host.then(findClassicTools);
  classicTools.catch(() => {}); // `composeAudio` reports it
  return { host, classicTools };
};

/** Composes the engines, the encoder and the audio store, with the pipeline over them. */
export const composeAudio = async (
  runtime: Runtime,
  core: Core,
  { createdAt }: NamingKey,
  onStored?: PipelineOptions["onStored"],
) => {
  const { scheduler, providerActivities, providers } = core;
  const { settings, log, telemetry, resources, shutdownTimeLeft, shared, onError } = runtime;
  const warn = (message: string) => log.warn(message);
  const audioStore = telemetry.audioStore(await openAudioStore(settings, warn));
  resources.defer(audioStore.close);
  const host = await runtime.host;
  resources.defer(host.close);
  const models = await composeModels(settings, host, log);
  const japanese = japaneseReadings({ warn });
  resources.defer(japanese.close);
  const natural = composeNaturalVoices(runtime, core, host);
  const local = await localEngines({
    ...{ host, japanese, warn, classic: await runtime.classicTools },
    models: models.tools,
    natural: natural.tools,
  });
  const { engines, checks } = composeFreeEngines(settings, local, telemetry, scheduler, providerActivities);
  const findProviderClient = createProviderClients({
    credentials: core.runner.view(credentials),
    providers,
    cipher: await core.cipher(),
    onError,
  });
  const findEngine: FindEngine = (code, websiteId) =>
    isByok(code) ? findProviderClient(websiteId, code)?.engine : engines.get(code);
  const encoder = telemetry.encoder(ffmpegEncoder(host));
  const pipeline = telemetry.pipeline(
    createPipeline({
      engines: ({ engine: code, websiteId = "", voice, tools }) => {
        const engine = findEngine(code, websiteId);
        // Since the request was planned, the credentials were replaced or the voice was installed.
        // The audio would be stored under the name of audio that another engine or voice makes.
        if ((isByok(code) || tools === noVersion) && engine?.version(voice) !== tools) return undefined;
        return engine && telemetry.engine(engine);
      },
      encoder,
      decoder: ffmpegDecoder(host),
      store: audioStore,
      cache: createMemoryCache({
        maxBytes: Math.floor(settings.memoryCacheBytes / shared.count),
        uses: composeUseReports(settings, audioStore),
      }),
      log,
      scheduler,
      ...(onStored && { onStored }),
      // A rolling restart takes less than a day.
      isUpgraded: () => runtime.clock() >= createdAt + dayMs,
    }),
  );
  resources.defer(async () => {
    const lost = await pipeline.drain(shutdownTimeLeft());
    if (lost > 0) log.warn({ lost }, "audio objects were not written: they are synthesized again on request");
  });
  return {
    audioStore,
    findEngine,
    encoderVersion: encoder.version,
    pipeline,
    subprocessStats: host.stats,
    modelVoices: models.voices,
    checks: [
      ...engineChecks(host, engines.size, checks),
      ...models.checks,
      natural.checkWith((code) => engines.get(code)),
    ],
  };
};

const dayMs = 24 * 60 * 60_000;

/** The local speech tools are critical for the service only if it has no self-hosted servers. */
const engineChecks = (host: SubprocessHost, engineCount: number, selfHosted: readonly Check[]): Check[] => {
  const hasSelfHosted = selfHosted.length > 0;
  const probe = async (): Promise<void> => {
    if (engineCount === 0) throw new Error("no engine is running");
    if (!hasSelfHosted) await host.ping();
  };
  const note = () => host.stats().encoderFallback;
  const engines: Check = { name: "engines", critical: true, probe };
  if (!hasSelfHosted) return [{ ...engines, note }];
  return [engines, { name: "speechTools", critical: false, probe: host.ping, note }, ...selfHosted];
};
