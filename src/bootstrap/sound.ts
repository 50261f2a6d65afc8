import type { Logger } from "pino";
import type { FindAccount } from "../application/accounts/provider-accounts.ts";
import type { Check } from "../application/health/health.ts";
import type { FindEngine } from "../application/synthesis/synthesis.ts";
import { ffmpegEncoder } from "../audio/formats/ffmpeg-encoder.ts";
import { createMemoryCache } from "../audio/pipeline/memory-cache.ts";
import { createPipeline, type Pipeline } from "../audio/pipeline/pipeline.ts";
import type { AudioStore } from "../audio/store/audio-store.ts";
import { isByok } from "../domain/accounts/byok-providers.ts";
import { localEngines } from "../engines/local/local-engine.ts";
import type { Settings } from "../settings.ts";
import { type HostStats, openSubprocessHost } from "../subprocess/subprocess-host.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { besideSelfHosted } from "./providers.ts";
import { openAudioStore } from "./stores.ts";

/** What makes sound and keeps it. */
export interface SoundParts {
  readonly audioStore: AudioStore;
  readonly engineOf: FindEngine;
  /** What encoded bytes depend on beside the samples. */
  readonly encoderVersion: string;
  readonly pipeline: Pipeline;
  toolStats(): HostStats;
  readonly checks: readonly Check[];
}

export interface SoundOptions {
  readonly settings: Settings;
  readonly log: Logger;
  /** Takes what is to be closed at the end. */
  readonly opened: AsyncDisposableStack;
  /** Milliseconds that a drain may still take. */
  readonly patience: () => number;
  readonly accountOf: FindAccount;
  readonly telemetry: Telemetry;
}

export const composeSound = async (options: SoundOptions): Promise<SoundParts> => {
  const { settings, log, opened, patience, accountOf, telemetry } = options;
  const warn = (sentence: string) => log.warn(sentence);
  const audioStore = telemetry.audioStore(await openAudioStore(settings, { warn }));
  opened.defer(audioStore.close);
  const host = await openSubprocessHost({ concurrency: settings.synthesisConcurrency, warn });
  opened.defer(host.close);
  const local = await localEngines({ host, warn });
  const localOnes = new Map(local.map((engine) => [engine.code, engine]));
  const { engines, checks } = besideSelfHosted(settings, localOnes, telemetry);
  const engineOf: FindEngine = (code, websiteId) =>
    isByok(code) ? accountOf(websiteId, code)?.engine : engines.get(code);
  const encoder = telemetry.encoder(ffmpegEncoder(host));
  const pipeline = telemetry.pipeline(
    createPipeline({
      engines: ({ engine: code, websiteId = "", voice, tools }) => {
        const engine = engineOf(code, websiteId);
        // Of credentials that were replaced since, it would give its own sound to the address of the others'.
        if (isByok(code) && engine?.version(voice) !== tools) return undefined;
        return engine && telemetry.engine(engine);
      },
      encoder,
      store: audioStore,
      cache: createMemoryCache({ maxBytes: settings.memoryCacheBytes }),
      log,
    }),
  );
  opened.defer(async () => {
    const lost = await pipeline.drain(patience());
    if (lost > 0) log.warn({ lost }, "sounds were not kept: they will be made again when asked for");
  });
  const ownServers = checks.length > 0;
  const probe = async (): Promise<void> => {
    if (engines.size === 0) throw new Error("no engine is running");
    if (!ownServers) await host.ping();
  };
  return {
    audioStore,
    engineOf,
    encoderVersion: encoder.version,
    pipeline,
    toolStats: host.stats,
    checks: [
      { name: "engines", critical: true, probe },
      ...(ownServers ? [{ name: "speechTools", critical: false, probe: host.ping }, ...checks] : []),
    ],
  };
};
