import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { catalog } from "../../projections/catalog.ts";
import { credentials as credentialsProjection } from "../../projections/credentials.ts";
import { keys as keysProjection } from "../../projections/keys.ts";
import { readMalformedEvents } from "../../projections/malformed-events.ts";
import { monthlyQuota } from "../../projections/monthly-quota.ts";
import { platforms } from "../../projections/platforms.ts";
import { rate } from "../../projections/rate.ts";
import { isVerifiedOrigin, verifiedOrigins } from "../../projections/verified-origins.ts";
import { websites as websitesProjection } from "../../projections/websites.ts";
import { createAccessTokens } from "../application/access/access-tokens.ts";
import { createAuthenticator } from "../application/access/authentication.ts";
import { createFailedAttempts } from "../application/access/failed-attempts.ts";
import { createRateLimiter } from "../application/access/rate-limiter.ts";
import { createProviderAccounts } from "../application/accounts/provider-accounts.ts";
import { createByokVoices } from "../application/catalog/byok-voices.ts";
import { createVoiceReports } from "../application/catalog/voice-reports.ts";
import { createVoices } from "../application/catalog/voices.ts";
import { createWebsiteCatalogs } from "../application/catalog/website-catalog.ts";
import { createExecute } from "../application/commands.ts";
import { createHealth } from "../application/health/health.ts";
import { createReadiness } from "../application/health/readiness.ts";
import { createStreaming } from "../application/synthesis/streaming.ts";
import { createSynthesis } from "../application/synthesis/synthesis.ts";
import { createLedger } from "../application/usage/ledger.ts";
import { createVoiding } from "../application/usage/voiding.ts";
import { measureSound } from "../audio/formats/containers.ts";
import { catalogDecider, catalogStream, seedCatalog } from "../domain/catalog/catalog.ts";
import { nativeVoices } from "../domain/catalog/seed/native-voices.ts";
import { releaseSeed } from "../domain/catalog/seed/seed.ts";
import { selfHostedVoices } from "../engines/self-hosted/voices.ts";
import { createCommandHandler } from "../eventstore/command-handler.ts";
import { cors, createApiCors, publicCors } from "../http/access/cors.ts";
import { createGate } from "../http/access/gate.ts";
import { createRenewToken, renewTokens } from "../http/access/token-renewal.ts";
import { compressJson } from "../http/caching/content-coding.ts";
import { createApp } from "../http/kernel/app.ts";
import { createAudioDuration } from "../http/kernel/audio-body.ts";
import { clientAddress } from "../http/kernel/client-address.ts";
import { exposedHeaders, headerNames } from "../http/kernel/headers.ts";
import { announceDeprecation, authenticated } from "../http/kernel/middleware.ts";
import { publicPathOf } from "../http/kernel/public-url.ts";
import { createRouter } from "../http/kernel/router.ts";
import { listen } from "../http/kernel/server.ts";
import { createOperations } from "../http/operations.ts";
import { operatorOnly } from "../http/routes/admin/authorize.ts";
import { bundleClient } from "../http/routes/docs/client-script.ts";
import { createFastPath } from "../http/routes/synthesis/fast-path.ts";
import { createPreparedPlans } from "../http/routes/synthesis/prepared-plans.ts";
import { createSynthesisPresenter } from "../http/routes/synthesis/presenter.ts";
import { synthesizeRequest } from "../http/routes/synthesis/request.ts";
import { createStreamAnswer } from "../http/routes/synthesis/stream.ts";
import { createHandshakeAdmission } from "../http/websocket/admission.ts";
import { createSynthesisSocketServer } from "../http/websocket/websocket-server.ts";
import { type Settings, withSettingName } from "../settings.ts";
import { noTelemetry, type Telemetry } from "../telemetry/telemetry.ts";
import { composeCore } from "./core.ts";
import { startTimeoutMs } from "./event-log.ts";
import { deriveKeys, obtainMasterKeys } from "./master-key.ts";
import { createShutdownDeadline } from "./shutdown-deadline.ts";
import { composeSound } from "./sound.ts";
import { requireReportingViews, requireServingViews, skippedEvents } from "./view-health.ts";
import { malformedEvents } from "./views.ts";

/** The whole service. */
export interface Service {
  /** Where it listens. */
  readonly url: string;
  /** Answers what is in flight, records what must be, then frees everything. */
  close(): Promise<void>;
}

/** Starts the service; rejects with the reason when it cannot be started, and leaves nothing running then. */
export const composeService = async (
  settings: Settings,
  log: Logger,
  clock = Date.now,
  telemetry: Telemetry = noTelemetry,
): Promise<Service> => {
  // Closed in reverse order: at the end, or as soon as a later part cannot be had.
  await using opened = new AsyncDisposableStack();
  const masterKeys = await obtainMasterKeys(settings);
  const core = await composeCore(settings, log, { clock, telemetry });
  opened.defer(core.close);
  const { store, handler, runner, execute } = core;
  const sealing = await core.sealing();
  const patient = createCommandHandler({ store, clock, deadlineMs: startTimeoutMs });
  await createExecute({ handler: patient, runner })(
    catalogDecider,
    catalogStream,
    (state) => seedCatalog(state, releaseSeed(), new Date(clock()).toISOString()),
    { actor: "system" },
  );
  const patience = createShutdownDeadline(settings.drainSeconds * 1_000);
  const accountOf = createProviderAccounts({
    credentials: runner.view(credentialsProjection),
    providers: core.providers,
    sealing,
    onTrouble: (what, error) => log.warn({ err: error }, what),
  });
  const sound = await composeSound({ settings, log, opened, patience, accountOf, telemetry });
  const limiter = telemetry.limiter(
    createRateLimiter({
      store,
      view: runner.view(rate),
      instance: randomUUID(),
      clock,
      burstWindowMs: settings.burstWindowMs,
      burstLimit: settings.burstLimit,
      onError: (what, error) => log.warn({ err: error }, what),
    }),
  );
  opened.defer(limiter.close);
  const voiding = createVoiding({
    openHandler: (options) => telemetry.commands(createCommandHandler({ store, clock, ...options })),
    clock,
    onError: (what, error) => log.warn({ err: error }, what),
  });
  const ledger = createLedger({ handler, views: runner, quotas: runner.view(monthlyQuota), voiding, clock });
  opened.defer(() => ledger.close(patience()));
  const catalogOf = createWebsiteCatalogs({
    catalog: runner.view(catalog),
    ownVoices: createByokVoices(runner.view(credentialsProjection)),
    configuredVoices: selfHostedVoices(settings.selfHosted),
  });
  const synthesis = createSynthesis({ ...sound, ledger, catalogOf });
  const streaming = telemetry.streaming(
    createStreaming({
      pipeline: sound.pipeline,
      ledger,
      onTrouble: (what, error) => log.warn({ err: error }, what),
    }),
  );
  const [key, ...previousKeys] = deriveKeys(masterKeys, "access tokens");
  const accessTokens = createAccessTokens({
    key,
    previousKeys,
    ttlSeconds: settings.tokenTtlSeconds,
    clock,
  });
  const failedAttempts = createFailedAttempts({ clock });
  const authenticator = telemetry.authenticator(
    createAuthenticator({
      keys: runner.view(keysProjection),
      websites: runner.view(websitesProjection),
      accessTokens,
      failedAttempts,
    }),
  );
  const clientOf = clientAddress(settings.trustProxy);
  const names = headerNames(settings.headerPrefix);
  const exposed = exposedHeaders(names);
  const renewToken = createRenewToken(accessTokens, names);
  const originsView = runner.lastKnownView(verifiedOrigins); // grants no access; a page could not read its 503 otherwise
  const apiCors = createApiCors({ isVerified: (origin) => isVerifiedOrigin(originsView, origin), exposed });
  const audioDuration = createAudioDuration(measureSound);
  const speaking = {
    gate: createGate({ authenticator, limiter, clientOf }),
    synthesis,
    presenter: createSynthesisPresenter({
      synthesis,
      names,
      publicPath: publicPathOf(settings.publicUrl),
      publicCors: publicCors(exposed),
      audioDuration,
    }),
    prepared: createPreparedPlans(),
  };
  const { gate } = speaking;
  const catalogView = runner.view(catalog);
  const voices = createVoices({
    catalogOf,
    platforms: runner.view(platforms),
    nativeVoices,
  });
  const reportVoices = createVoiceReports({ execute, catalog: catalogView, clock });
  const malformed = () => readMalformedEvents(runner.lastKnownView(malformedEvents));
  const checkHealth = createHealth({
    checks: [
      { name: "eventStore", critical: true, probe: () => store.ping() },
      { name: "projections", critical: true, probe: async () => requireServingViews(runner.status()) },
      { name: "reports", critical: false, probe: async () => requireReportingViews(runner.status()) },
      { name: "events", critical: false, probe: async () => {}, note: () => skippedEvents(malformed()) },
      ...sound.checks,
      { name: "audioStore", critical: false, probe: () => sound.audioStore.ping(), cacheMs: 5_000 },
    ],
  });
  const readiness = createReadiness({ checkHealth, clock });
  telemetry.observe({
    views: runner.status,
    malformedEvents: () => malformed().count,
    pendingCommands: () => handler.pending,
    unsettledServings: () => voiding.pending,
    pipeline: sound.pipeline.stats,
    subprocess: sound.toolStats,
    checkHealth,
  });
  const schema = synthesizeRequest(settings.maxTextCharacters);
  const observer = telemetry.requests;
  const operations = createOperations({
    ...core,
    ...speaking,
    settings,
    names,
    schema,
    streaming,
    streamAnswer: createStreamAnswer({ streaming, names, renewToken }),
    voices,
    reportVoices,
    accessTokens,
    failedAttempts,
    clientOf,
    getObject: sound.pipeline.getObject,
    audioDuration,
    checkHealth,
    readiness,
    clientScript: await bundleClient(),
  });
  const router = createRouter(operations, {
    website: authenticated(gate),
    "website, even suspended": authenticated(gate, { suspended: "allowed" }),
    operator: operatorOnly({ adminToken: settings.adminToken, failedAttempts, clientOf }),
  });
  const app = createApp({
    log,
    observer,
    router,
    policies: [
      compressJson(),
      cors(router, apiCors, exposed),
      renewTokens(renewToken),
      announceDeprecation(router),
    ],
  });
  const fastPath = createFastPath({ ...speaking, apiCors, log, observer });
  const speechSocket = createSynthesisSocketServer({
    admit: createHandshakeAdmission({ authenticator, limiter, clientOf }),
    services: { schema, synthesis, streaming },
    limits: { ...settings.sockets, maxTextCharacters: settings.maxTextCharacters },
    log,
  });
  const server = await listen({ ...settings, app, fastPath, upgrade: telemetry.upgrade(speechSocket) }).catch(
    (error) => {
      const isOfPort = error.code === "EADDRINUSE" || error.code === "EACCES";
      return withSettingName(isOfPort ? "PORT" : "HOST", Promise.reject(error));
    },
  );
  opened.defer(async () => {
    readiness.drain();
    await delay(settings.drainDelaySeconds * 1_000);
    await Promise.all([server.drain(patience()), speechSocket.drain(patience())]);
  });
  const running = opened.move();
  return { url: server.url, close: () => running.disposeAsync() };
};
