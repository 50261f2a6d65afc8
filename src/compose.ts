import { randomBytes, randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type { Logger } from "pino";
import { catalog } from "../projections/catalog.ts";
import { keys as keysProjection } from "../projections/keys.ts";
import { monthlyQuota } from "../projections/monthly-quota.ts";
import { platforms } from "../projections/platforms.ts";
import { rate } from "../projections/rate.ts";
import { createProjectionRunner, type ProjectionRunner } from "../projections/runner.ts";
import { noSnapshots } from "../projections/snapshot.ts";
import { snapshotFiles } from "../projections/snapshot-files.ts";
import { usageTotals } from "../projections/usage-totals.ts";
import { isVerifiedOrigin, verifiedOrigins } from "../projections/verified-origins.ts";
import { websites as websitesProjection } from "../projections/websites.ts";
import { createAccessTokens } from "./application/access-tokens.ts";
import { type Audit, createAudit } from "./application/audit.ts";
import { createAuthenticator } from "./application/authentication.ts";
import { type CatalogKeeper, createCatalogKeeper } from "./application/catalog.ts";
import { createExecute, type Execute } from "./application/commands.ts";
import { createFailedAttempts } from "./application/failed-attempts.ts";
import { createHealth } from "./application/health.ts";
import { createKeys, type Keys } from "./application/keys.ts";
import { createLedger } from "./application/ledger.ts";
import { identifyLog, logIdOf } from "./application/log-identity.ts";
import { createOriginVerification, type OriginVerification } from "./application/origin-verification.ts";
import { createRateLimiter } from "./application/rate-limiter.ts";
import { createSynthesis } from "./application/synthesis.ts";
import { createUsageReport, type ReportUsage } from "./application/usage-report.ts";
import { createVoiceReports } from "./application/voice-reports.ts";
import { createVoices, noOwnVoices } from "./application/voices.ts";
import { createWarmUsage } from "./application/warm-usage.ts";
import { createWebsites, type Websites } from "./application/websites.ts";
import { ffmpegEncoder } from "./audio/ffmpeg-encoder.ts";
import { openFilesystemAudioStore } from "./audio/filesystem-audio-store.ts";
import { createMemoryCache } from "./audio/memory-cache.ts";
import { createPipeline } from "./audio/pipeline.ts";
import { nativeVoices } from "./catalog-seed/native-voices.ts";
import { releaseSeed } from "./catalog-seed/seed.ts";
import { catalogDecider, catalogStream, seedCatalog } from "./domain/catalog.ts";
import type { EngineCode } from "./domain/speech.ts";
import type { Engine } from "./engines/engine.ts";
import { localEngines } from "./engines/local-engine.ts";
import { type CommandHandler, createCommandHandler } from "./eventstore/command-handler.ts";
import type { EventStore } from "./eventstore/event-store.ts";
import { openSqliteEventStore } from "./eventstore/sqlite/sqlite-event-store.ts";
import { makeFolder } from "./folder.ts";
import { adminRoutes } from "./http/admin/routes.ts";
import { createApp } from "./http/app.ts";
import { audioRoutes } from "./http/audio.ts";
import { renewTokens } from "./http/auth/renewal.ts";
import { authRoutes } from "./http/auth/routes.ts";
import { clientAddress } from "./http/client-address.ts";
import { bundleClient, clientScriptRoutes } from "./http/client-script.ts";
import { configRoutes } from "./http/config/routes.ts";
import { cors, createApiCors } from "./http/cors.ts";
import { docsRoutes } from "./http/docs/routes.ts";
import { createGate } from "./http/gate.ts";
import { exposedHeaders, headerNames } from "./http/header-names.ts";
import { healthRoutes } from "./http/health.ts";
import { tellDeprecation } from "./http/legacy/deprecation.ts";
import { legacyRoutes } from "./http/legacy/routes.ts";
import { describeApi } from "./http/openapi/document.ts";
import { openApiRoutes } from "./http/openapi/routes.ts";
import { createPublicUrl } from "./http/public-url.ts";
import { listen } from "./http/server.ts";
import { createAnswerer } from "./http/synthesis/answer.ts";
import { createFastPath } from "./http/synthesis/fast-path.ts";
import { createPreparedPlans } from "./http/synthesis/prepared-plans.ts";
import { synthesizeRequest } from "./http/synthesis/request.ts";
import { synthesisRoutes } from "./http/synthesis/routes.ts";
import { voiceRoutes } from "./http/voices/routes.ts";
import { deriveKey, obtainMasterKey } from "./master-key.ts";
import { sharedPatience } from "./patience.ts";
import { type Settings, underSetting } from "./settings.ts";
import { openSubprocessHost } from "./subprocess/subprocess-host.ts";

/** What the command line works with and the service stands on: the log, its views, and the commands. */
export interface Core {
  readonly store: EventStore;
  readonly handler: CommandHandler;
  readonly runner: ProjectionRunner;
  readonly execute: Execute;
  readonly websites: Websites;
  readonly keys: Keys;
  readonly originVerification: OriginVerification;
  readonly catalog: CatalogKeeper;
  readonly audit: Audit;
  readonly reportUsage: ReportUsage;
  /** Waits for what was begun, then frees everything. */
  close(): Promise<void>;
}

export interface CoreOptions {
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Whether snapshots are written; those that are there are read anyway. Default true. */
  readonly keepSnapshots?: boolean;
  /** Opens a log that exists and writes nothing anywhere: commands are refused. Default false. */
  readonly readOnly?: boolean;
}

/**
 * Opens the log, beside whoever else has it open, and brings its views up to date.
 * @throws {EventStoreUnavailable} @throws {Unavailable}
 */
export const composeCore = async (
  settings: Settings,
  log: Logger,
  { clock = Date.now, keepSnapshots = true, readOnly = false }: CoreOptions = {},
): Promise<Core> => {
  await using opened = new AsyncDisposableStack();
  if (!readOnly) await underSetting("DATA_DIR", makeFolder(settings.dataDir));
  const store = await openEventStore(settings, readOnly);
  opened.defer(store.close);
  const first = createCommandHandler({ store, clock });
  const logId = readOnly
    ? await logIdOf(store)
    : await identifyLog(first, randomUUID(), new Date(clock()).toISOString());
  const snapshots =
    logId === undefined ? noSnapshots : snapshotFiles(join(settings.dataDir, "snapshots", logId));
  const runner = createProjectionRunner({
    store,
    projections: [
      websitesProjection,
      verifiedOrigins,
      keysProjection,
      catalog,
      rate,
      monthlyQuota,
      usageTotals,
      platforms,
    ],
    trimmed: rate.prefixes,
    snapshots: keepSnapshots && !readOnly ? snapshots : { ...snapshots, save: noSnapshots.save },
    clock,
    onTrouble: (what, error) => log.warn({ err: error }, what),
  });
  opened.defer(runner.close);
  await runner.start();
  const quotas = runner.view(monthlyQuota);
  const handler = createCommandHandler({ store, clock, warm: createWarmUsage({ store, quotas, clock }) });
  opened.defer(handler.drain);
  const execute = createExecute({ handler, runner });
  const keysView = runner.view(keysProjection);
  const commands = { execute, clock, random: randomBytes };
  const keys = createKeys({ ...commands, keys: keysView, quotas });
  const running = opened.move();
  return {
    store,
    handler,
    runner,
    execute,
    websites: createWebsites({ ...commands, websites: runner.view(websitesProjection), keys }),
    keys,
    originVerification: createOriginVerification(commands),
    catalog: createCatalogKeeper({ ...commands, catalog: runner.view(catalog) }),
    audit: createAudit({ store }),
    reportUsage: createUsageReport({ store, totals: runner.view(usageTotals), clock }),
    close: () => running.disposeAsync(),
  };
};

const openEventStore = ({ eventStore: { path } }: Settings, readOnly: boolean): Promise<EventStore> => {
  const open = async (): Promise<EventStore> => {
    if (!readOnly) await makeFolder(dirname(path));
    return await openSqliteEventStore({ path, readOnly });
  };
  return underSetting("EVENT_STORE", open());
};

/** The whole service. */
export interface Service {
  /** Where it listens. */
  readonly url: string;
  /** Answers what is in flight, records what must be, then frees everything. */
  close(): Promise<void>;
}

/** Starts the service; rejects with the reason when it cannot be started, and leaves nothing running then. */
export const composeService = async (settings: Settings, log: Logger, clock = Date.now): Promise<Service> => {
  // Closed in reverse order: at the end, or as soon as a later part cannot be had.
  await using opened = new AsyncDisposableStack();
  const core = await composeCore(settings, log, { clock });
  opened.defer(core.close);
  const { store, handler, runner, execute, originVerification } = core;
  await execute(
    catalogDecider,
    catalogStream,
    (state) => seedCatalog(state, releaseSeed(), new Date(clock()).toISOString()),
    { actor: "system" },
  );
  const patience = sharedPatience(settings.drainSeconds * 1_000);
  const sound = await composeSound(settings, log, opened, patience);
  const limiter = createRateLimiter({
    handler,
    store,
    view: runner.view(rate),
    instance: randomUUID(),
    clock,
    burstWindowMs: settings.burstWindowMs,
    burstLimit: settings.burstLimit,
    onTrouble: (what, error) => log.warn({ err: error }, what),
  });
  opened.defer(limiter.close);
  const ledger = createLedger({ handler, views: runner, quotas: runner.view(monthlyQuota), clock });
  const synthesis = createSynthesis({ ...sound, ledger, catalog: runner.view(catalog) });
  const masterKey = await obtainMasterKey(settings);
  const accessTokens = createAccessTokens({
    key: deriveKey(masterKey, "access tokens"),
    ttlSeconds: settings.tokenTtlSeconds,
    clock,
  });
  const failedAttempts = createFailedAttempts({ clock });
  const authenticator = createAuthenticator({
    keys: runner.view(keysProjection),
    websites: runner.view(websitesProjection),
    accessTokens,
    failedAttempts,
  });
  const clientOf = clientAddress(settings.trustProxy);
  const names = headerNames(settings.headerPrefix);
  const exposed = exposedHeaders(names);
  const originsView = runner.view(verifiedOrigins);
  const apiCors = createApiCors({ isVerified: (origin) => isVerifiedOrigin(originsView, origin), exposed });
  const speaking = {
    gate: createGate({ authenticator, limiter, clientOf }),
    synthesis,
    answerer: createAnswerer(synthesis, names),
    prepared: createPreparedPlans(),
  };
  const { gate } = speaking;
  const catalogView = runner.view(catalog);
  const voices = createVoices({
    catalog: catalogView,
    platforms: runner.view(platforms),
    nativeVoices,
    ownVoices: noOwnVoices,
  });
  const reportVoices = createVoiceReports({ execute, catalog: catalogView, clock });
  const checkHealth = createHealth({
    checks: [
      { name: "eventStore", vital: true, look: () => store.ping() },
      { name: "projections", vital: true, look: async () => mustBeLive(runner) },
      { name: "engines", vital: true, look: sound.checkEngines },
      { name: "audioStore", vital: false, look: () => sound.audioStore.ping() },
    ],
  });
  const schema = synthesizeRequest(settings.maxTextCharacters);
  const app = createApp({
    log,
    onEvery: [cors(apiCors, exposed), renewTokens(accessTokens, names), tellDeprecation(settings.publicUrl)],
    routes: [
      healthRoutes({ checkHealth }),
      audioRoutes({ fetchObject: sound.pipeline.fetch }),
      authRoutes({ gate, accessTokens, originVerification, failedAttempts, clientOf }),
      configRoutes({ gate, websites: core.websites, accessTokens }),
      voiceRoutes({ gate, voices, reportVoices, publicUrl: createPublicUrl(settings) }),
      synthesisRoutes({ ...speaking, schema }),
      legacyRoutes({ ...speaking, schema }),
      openApiRoutes(describeApi({ schema, names, publicUrl: settings.publicUrl })),
      docsRoutes(settings),
      clientScriptRoutes(await bundleClient()),
      adminRoutes({ ...core, adminToken: settings.adminToken, failedAttempts, clientOf }),
    ],
  });
  const fastPath = createFastPath({ ...speaking, apiCors, log });
  const server = await listen({ ...settings, app, fastPath }).catch((error) => {
    const isOfPort = error.code === "EADDRINUSE" || error.code === "EACCES";
    return underSetting(isOfPort ? "PORT" : "HOST", Promise.reject(error));
  });
  opened.defer(() => server.drain(patience()));
  const running = opened.move();
  return { url: server.url, close: () => running.disposeAsync() };
};

/** What makes sound and keeps it. */
const composeSound = async (
  settings: Settings,
  log: Logger,
  opened: AsyncDisposableStack,
  patience: () => number,
) => {
  const { path } = settings.audioStore;
  const audioStore = await underSetting(
    "AUDIO_STORE",
    makeFolder(path).then(() => openFilesystemAudioStore({ path })),
  );
  opened.defer(audioStore.close);
  const warn = (sentence: string) => log.warn(sentence);
  const host = await openSubprocessHost({ atOnce: settings.synthesisConcurrency, warn });
  opened.defer(host.close);
  const local = await localEngines({ host, warn });
  const engines: ReadonlyMap<EngineCode, Engine> = new Map(local.map((engine) => [engine.code, engine]));
  const encoder = ffmpegEncoder(host);
  const pipeline = createPipeline({
    engines: ({ engine }) => engines.get(engine),
    encoder,
    store: audioStore,
    cache: createMemoryCache({ maxBytes: settings.memoryCacheBytes }),
    log,
  });
  opened.defer(async () => {
    const lost = await pipeline.drain(patience());
    if (lost > 0) log.warn({ lost }, "sounds were not kept: they will be made again when asked for");
  });
  const checkEngines = async (): Promise<void> => {
    if (engines.size === 0) throw new Error("no engine is running");
    await host.ping();
  };
  return { audioStore, engines, encoderVersion: encoder.version, pipeline, checkEngines };
};

const mustBeLive = ({ status }: ProjectionRunner): void => {
  if (!status().live) throw new Error("the views have lost the event store");
};
