import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import { catalog } from "../projections/catalog.ts";
import { keys as keysProjection } from "../projections/keys.ts";
import { monthlyQuota } from "../projections/monthly-quota.ts";
import { rate } from "../projections/rate.ts";
import { createProjectionRunner, type ProjectionRunner } from "../projections/runner.ts";
import { noSnapshots, snapshotFiles } from "../projections/snapshot.ts";
import { usageTotals } from "../projections/usage-totals.ts";
import { websites as websitesProjection } from "../projections/websites.ts";
import { type Audit, createAudit } from "./application/audit.ts";
import { createAuthenticator } from "./application/authentication.ts";
import { createExecute, type Execute } from "./application/commands.ts";
import { createHealth } from "./application/health.ts";
import { createKeys, type Keys } from "./application/keys.ts";
import { createLedger } from "./application/ledger.ts";
import { identifyLog } from "./application/log-identity.ts";
import { createRateLimiter } from "./application/rate-limiter.ts";
import { createSynthesis } from "./application/synthesis.ts";
import { createUsageReport, type ReportUsage } from "./application/usage-report.ts";
import { createWebsites, type Websites } from "./application/websites.ts";
import { ffmpegEncoder } from "./audio/ffmpeg-encoder.ts";
import { openFilesystemAudioStore } from "./audio/filesystem-audio-store.ts";
import { createMemoryCache } from "./audio/memory-cache.ts";
import { createPipeline } from "./audio/pipeline.ts";
import { releaseSeed } from "./catalog-seed/seed.ts";
import { catalogDecider, catalogStream, seedCatalog } from "./domain/catalog.ts";
import type { EngineCode } from "./domain/speech.ts";
import type { Engine } from "./engines/engine.ts";
import { localEngines } from "./engines/local-engine.ts";
import { type CommandHandler, createCommandHandler } from "./eventstore/command-handler.ts";
import type { EventStore } from "./eventstore/event-store.ts";
import { openSqliteEventStore } from "./eventstore/sqlite/sqlite-event-store.ts";
import { adminRoutes } from "./http/admin/routes.ts";
import { createApp } from "./http/app.ts";
import { audioRoutes } from "./http/audio.ts";
import { clientAddress } from "./http/client-address.ts";
import { createGate } from "./http/gate.ts";
import { headerNames } from "./http/header-names.ts";
import { healthRoutes } from "./http/health.ts";
import { listen } from "./http/server.ts";
import { createAnswerer } from "./http/synthesis/answer.ts";
import { createLane } from "./http/synthesis/lane.ts";
import { createPreparedPlans } from "./http/synthesis/prepared-plans.ts";
import { synthesizeRequest } from "./http/synthesis/request.ts";
import { synthesisRoutes } from "./http/synthesis/routes.ts";
import type { Settings } from "./settings.ts";
import { openSubprocessHost } from "./subprocess/subprocess-host.ts";

/** What the command line works with and the service stands on: the log, its views, and the commands. */
export interface Core {
  readonly store: EventStore;
  readonly handler: CommandHandler;
  readonly runner: ProjectionRunner;
  readonly execute: Execute;
  readonly websites: Websites;
  readonly keys: Keys;
  readonly audit: Audit;
  readonly reportUsage: ReportUsage;
  /** Waits for what was begun, then frees everything. */
  close(): Promise<void>;
}

/**
 * Opens the log, beside whoever else has it open, and brings its views up to date.
 * @throws {EventStoreUnavailable} @throws {Unavailable}
 */
export const composeCore = async (
  settings: Settings,
  log: Logger,
  { clock = Date.now, keepSnapshots = true }: { clock?: () => number; keepSnapshots?: boolean } = {},
): Promise<Core> => {
  const store = await openSqliteEventStore({ path: settings.eventStore.path });
  const handler = createCommandHandler({ store, clock });
  const logId = await identifyLog(handler, randomUUID(), new Date(clock()).toISOString());
  const snapshots = snapshotFiles(join(settings.dataDir, "snapshots", logId));
  const runner = createProjectionRunner({
    store,
    projections: [websitesProjection, keysProjection, catalog, rate, monthlyQuota, usageTotals],
    snapshots: keepSnapshots ? snapshots : { ...snapshots, save: noSnapshots.save },
    clock,
    onTrouble: (what, error) => log.warn({ err: error }, what),
  });
  await runner.start();
  const execute = createExecute({ handler, runner });
  const keysView = runner.view(keysProjection);
  const commands = { execute, clock, random: randomBytes };
  const keys = createKeys({ ...commands, keys: keysView, quotas: runner.view(monthlyQuota) });
  return {
    store,
    handler,
    runner,
    execute,
    websites: createWebsites({ ...commands, websites: runner.view(websitesProjection), keys }),
    keys,
    audit: createAudit({ store }),
    reportUsage: createUsageReport({ store, totals: runner.view(usageTotals), clock }),
    close: async () => {
      await handler.drain();
      await runner.close();
      await store.close();
    },
  };
};

/** The whole service. */
export interface Service {
  /** Where it listens. */
  readonly url: string;
  /** Answers what is in flight, records what must be, then frees everything. */
  close(): Promise<void>;
}

/** Starts the service; rejects with the reason when it cannot be started. */
export const composeService = async (settings: Settings, log: Logger, clock = Date.now): Promise<Service> => {
  const core = await composeCore(settings, log, { clock });
  const { store, handler, runner, execute } = core;
  await execute(
    catalogDecider,
    catalogStream,
    (state) => seedCatalog(state, releaseSeed(), new Date(clock()).toISOString()),
    { actor: "system" },
  );

  const host = await openSubprocessHost({ atOnce: settings.synthesisConcurrency });
  const local = await localEngines({ host, warn: (sentence) => log.warn(sentence) });
  const engines = new Map(local.map((engine) => [engine.code, engine]));
  const encoder = ffmpegEncoder(host);
  const audioStore = await openFilesystemAudioStore({ path: settings.audioStore.path });
  const pipeline = createPipeline({
    engines: ({ engine }) => engines.get(engine),
    encoder,
    store: audioStore,
    cache: createMemoryCache({ maxBytes: settings.memoryCacheBytes }),
    log,
  });

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
  const ledger = createLedger({ handler, views: runner, quotas: runner.view(monthlyQuota), clock });
  const synthesis = createSynthesis({
    engines,
    encoderVersion: encoder.version,
    pipeline,
    ledger,
    catalog: runner.view(catalog),
  });
  const gate = createGate({
    authenticator: createAuthenticator({ keys: runner.view(keysProjection), clock }),
    limiter,
    clientOf: clientAddress(settings.trustProxy),
  });
  const speaking = {
    gate,
    synthesis,
    answerer: createAnswerer(synthesis, headerNames(settings.headerPrefix)),
    prepared: createPreparedPlans(),
  };
  const checkHealth = createHealth({
    clock,
    checks: [
      { name: "eventStore", vital: true, look: () => store.ping() },
      { name: "projections", vital: true, look: async () => mustBeLive(runner) },
      { name: "engines", vital: true, look: async () => mustHave(engines) },
      { name: "audioStore", vital: false, look: () => audioStore.ping() },
    ],
  });
  const app = createApp({
    log,
    routes: [
      healthRoutes({ checkHealth }),
      audioRoutes({ fetchObject: pipeline.fetch }),
      synthesisRoutes({ ...speaking, schema: synthesizeRequest(settings.maxTextCharacters) }),
      adminRoutes({ ...core, adminToken: settings.adminToken }),
    ],
  });
  const server = await listen({ ...settings, app, lane: createLane({ ...speaking, log }) });

  return {
    url: server.url,
    close: async () => {
      const late = setTimeout(server.destroy, settings.drainSeconds * 1_000);
      await server.drain();
      clearTimeout(late);
      await limiter.close();
      await pipeline.drain(settings.drainSeconds * 1_000);
      await host.close();
      await audioStore.close();
      await core.close();
    },
  };
};

const mustBeLive = ({ status }: ProjectionRunner): void => {
  if (!status().live) throw new Error("the views have lost the event store");
};

const mustHave = ({ size }: ReadonlyMap<EngineCode, Engine>): void => {
  if (size === 0) throw new Error("no engine is running");
};
