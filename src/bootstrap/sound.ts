import type { FindAccount } from "../application/accounts/provider-accounts.ts";
import type { Check } from "../application/health/health.ts";
import type { FindEngine } from "../application/synthesis/planner.ts";
import { ffmpegEncoder } from "../audio/formats/ffmpeg-encoder.ts";
import { createMemoryCache } from "../audio/pipeline/memory-cache.ts";
import { createPipeline, type Pipeline } from "../audio/pipeline/pipeline.ts";
import type { AudioStore } from "../audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../audio/store/filesystem/filesystem-audio-store.ts";
import { isByok } from "../domain/accounts/byok-providers.ts";
import { localEngines } from "../engines/local/local-engine.ts";
import { type Settings, withSettingName } from "../settings.ts";
import { type HostStats, openSubprocessHost } from "../subprocess/subprocess-host.ts";
import type { Runtime } from "./core.ts";
import { makePrivateDirectory } from "./private-directory.ts";
import { composeFreeEngines } from "./providers.ts";

/** Engines, encoder and audio store, with the pipeline over them. */
export interface Sound {
  readonly audioStore: AudioStore;
  readonly findEngine: FindEngine;
  /** The encoder's part of every recipe: encoded bytes depend on it. */
  readonly encoderVersion: string;
  readonly pipeline: Pipeline;
  subprocessStats(): HostStats;
  readonly checks: readonly Check[];
}

export const composeSound = async (runtime: Runtime, findAccount: FindAccount): Promise<Sound> => {
  const { settings, log, telemetry, resources, shutdownTimeLeft } = runtime;
  const warn = (message: string) => log.warn(message);
  const opened = withSettingName("AUDIO_STORE", openAudioStore(settings, warn));
  const audioStore = telemetry.audioStore(await opened);
  resources.defer(audioStore.close);
  const host = await openSubprocessHost({ concurrency: settings.synthesisConcurrency, warn });
  resources.defer(host.close);
  const { engines, checks } = composeFreeEngines(settings, await localEngines({ host, warn }), telemetry);
  const findEngine: FindEngine = (code, websiteId) =>
    isByok(code) ? findAccount(websiteId, code)?.engine : engines.get(code);
  const encoder = telemetry.encoder(ffmpegEncoder(host));
  const pipeline = telemetry.pipeline(
    createPipeline({
      engines: ({ engine: code, websiteId = "", voice, tools }) => {
        const engine = findEngine(code, websiteId);
        // After the credentials were replaced, the engine would store its audio under the old credentials' address.
        if (isByok(code) && engine?.version(voice) !== tools) return undefined;
        return engine && telemetry.engine(engine);
      },
      encoder,
      store: audioStore,
      cache: createMemoryCache({ maxBytes: settings.memoryCacheBytes }),
      log,
    }),
  );
  resources.defer(async () => {
    const lost = await pipeline.drain(shutdownTimeLeft());
    if (lost > 0) log.warn({ lost }, "audio objects were not written: they are synthesized again on request");
  });
  const hasSelfHosted = checks.length > 0;
  const probe = async (): Promise<void> => {
    if (engines.size === 0) throw new Error("no engine is running");
    if (!hasSelfHosted) await host.ping();
  };
  const speechTools: Check = { name: "speechTools", critical: false, probe: host.ping };
  return {
    audioStore,
    findEngine,
    encoderVersion: encoder.version,
    pipeline,
    subprocessStats: host.stats,
    checks: [{ name: "engines", critical: true, probe }, ...(hasSelfHosted ? [speechTools, ...checks] : [])],
  };
};

/** The S3 client is large: it is imported only where it is configured. */
const openAudioStore = async (
  { audioStore }: Settings,
  warn: (message: string) => void,
): Promise<AudioStore> => {
  if (audioStore.kind === "s3") {
    const { openS3AudioStore } = await import("../audio/store/s3/s3-audio-store.ts");
    return await openS3AudioStore({ ...audioStore, warn });
  }
  await makePrivateDirectory(audioStore.path);
  return openFilesystemAudioStore(audioStore);
};
