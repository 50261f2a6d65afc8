import { setTimeout as delay } from "node:timers/promises";
import packageJson from "../../package.json" with { type: "json" };
import { pageScripts } from "../../projections/page-scripts.ts";
import { createReadWebsitePage } from "../application/accounts/website-page.ts";
import { sharedCatalog } from "../application/catalog/website-catalog.ts";
import type { Gallery } from "../application/gallery/gallery.ts";
import { createFindPinnedScripts } from "../application/page-scripts.ts";
import { withLegacyAddresses } from "../audio/legacy/legacy-addresses.ts";
import { createApiCors, publicCors } from "../http/access/cors.ts";
import { createCredentialReader } from "../http/access/credentials.ts";
import { admitIfCredentials, admitWebsite, createGate } from "../http/access/gate.ts";
import { createRenewToken } from "../http/access/token-renewal.ts";
import { compatibleApis, createOperations } from "../http/all-operations.ts";
import { createApp } from "../http/app.ts";
import { type BundleLoader, createBundleLoader } from "../http/bundles/bundles.ts";
import { clientAddress, createClientOwner } from "../http/kernel/client-address.ts";
import { tokenHeadersOf } from "../http/kernel/compatible-api.ts";
import { describeRefusal } from "../http/kernel/errors/error-codes.ts";
import { exposedHeaders, headerNames } from "../http/kernel/headers.ts";
import { publicPathOf } from "../http/kernel/public-url.ts";
import { createRouter } from "../http/kernel/router.ts";
import { listen } from "../http/kernel/server.ts";
import { createHoldUnsentBytes } from "../http/kernel/unsent-bytes.ts";
import { admitAnyone, authorizeAdmin, authorizeAuditorOr } from "../http/routes/admin/authorize.ts";
import { unknownVoices } from "../http/routes/openai/voice-map.ts";
import type { VoiceFile } from "../http/routes/reproduce/operations.ts";
import { createSynthesisPresenter } from "../http/routes/synthesis/presenter.ts";
import { synthesizeRequest } from "../http/routes/synthesis/request.ts";
import { createStreamResponse } from "../http/routes/synthesis/stream.ts";
import { createHandshakeAdmission } from "../http/websocket/admission.ts";
import { createSynthesisSocketServer } from "../http/websocket/websocket-server.ts";
import type { EventLog } from "../ledger/audit/event-log.ts";
import { nameListenSetting, type Settings } from "../settings/read-settings.ts";
import type { Access } from "./access.ts";
import type { composeAudioReports } from "./audio-reports.ts";
import type { Core, Runtime } from "./core.ts";
import type { Sealer } from "./event-log/seals.ts";
import type { HealthChecks, StatusParts } from "./health.ts";
import type { AudioParts } from "./speech/audio.ts";
import type { SynthesisParts } from "./speech/synthesis.ts";
import { openRequestPage } from "./website-servers.ts";

/** Everything that the operations call. */
interface Application {
  readonly core: Core;
  readonly access: Access;
  readonly audio: AudioParts;
  readonly speech: SynthesisParts;
  readonly health: HealthChecks;
  readonly status: StatusParts;
  readonly sealer: Sealer;
  readonly audioReports: ReturnType<typeof composeAudioReports>;
  readonly eventLog: EventLog;
  readonly voiceFiles: () => Promise<readonly VoiceFile[]>;
  /** Undefined if the gallery is switched off. */
  readonly gallery: Gallery | undefined;
}

/**
 * Listens for HTTP requests and WebSockets. At shutdown, `others` are drained at the same time.
 * Resolves with the base URL.
 */
export const serveHttp = async (
  runtime: Runtime,
  application: Application,
  others: readonly { drain(timeoutMs: number): Promise<void> }[],
): Promise<string> => {
  const { settings, log, telemetry, resources, shutdownTimeLeft, shared } = runtime;
  const { access, speech, health } = application;
  const { requests: observer } = telemetry;
  const common = composeCommon(settings, application);
  const loader = createBundleLoader({ warn: (sentence) => log.warn(sentence) });
  const { clientOf, credentialReader, schema } = common;
  const refused = (code: string): void => {
    application.status.activity.refused(code);
    telemetry.refused(code);
  };
  const handle = createApp({
    ...common,
    log,
    observer,
    router: composeRouter(runtime, application, { ...common, bundles: loader.bundles }),
    refused,
    credentialHeaders: credentialReader.headers,
  });
  reportUnknownVoices(runtime, speech);
  const sockets = createSynthesisSocketServer({
    admit: createHandshakeAdmission({ ...access, credentialReader, clientOf }),
    services: { schema, ...speech },
    limits: settings.sockets,
    maxTextCharacters: settings.maxTextCharacters,
    log,
  });
  const at = { ...settings, ...shared.sockets.http };
  const onMalformed = (refusal: Error, requestId: string): void => {
    const why = describeRefusal(refusal);
    log.info({ requestId, ...why }, "malformed request");
    if (why.code) refused(why.code);
  };
  const listening = listen({ ...at, handle, upgrade: telemetry.upgrade(sockets), onMalformed });
  const server = await listening.catch(nameListenSetting("PORT", "HOST"));
  const closing = new AbortController();
  const loaded = loader.load(closing.signal);
  resources.defer(async () => {
    closing.abort();
    await loaded;
    const isReplaced = shared.isReplaced();
    if (!isReplaced) {
      health.readiness.drain();
      if (settings.drainDelaySeconds > 0) await delay(settings.drainDelaySeconds * 1_000);
    }
    const idleMs = isReplaced ? replacedIdleMs : 0;
    await Promise.all([server, sockets, ...others].map((each) => each.drain(shutdownTimeLeft(), idleMs)));
  });
  return server.url;
};

/**
 * The time after which a worker that is replaced closes idle connections. No load balancer knows of
 * the replacement: a client that uses its connection within this time gets a response that closes
 * it.
 */
const replacedIdleMs = 5_000;

/**
 * Warns of voices in OPENAI_VOICE_MAP that the shared catalog lacks. Otherwise only clients whose
 * requests are refused would notice a misspelled voice.
 */
const reportUnknownVoices = ({ settings, log }: Runtime, { voices }: SynthesisParts): void => {
  const unknown = unknownVoices(settings.openAiVoices, (voice) => voices.isNamed(sharedCatalog, voice));
  for (const [name, voice] of unknown) {
    log.warn(
      `OPENAI_VOICE_MAP: ${name} stands for ${JSON.stringify(voice)}, which is not in the shared catalog: only websites with a voice of that name can use it`,
    );
  }
};

/** Composes the parts that the operations, the middleware and the sockets share. */
const composeCommon = (settings: Settings, { access, speech }: Application) => {
  const { accessTokens, isVerified, limits } = access;
  const { synthesis, marksWithPhonemes } = speech;
  const clientOf = clientAddress(settings.trustProxy);
  const clientOwner = createClientOwner(clientOf, [...settings.trustProxy, ...settings.cdnNetworks]);
  const credentialReader = createCredentialReader(tokenHeadersOf(compatibleApis));
  const names = headerNames(settings.headerPrefix);
  const exposed = exposedHeaders(names);
  const presenter = createSynthesisPresenter({
    synthesis,
    marksWithPhonemes,
    names,
    publicPath: publicPathOf(settings.publicUrl),
    publicCors: publicCors(exposed),
  });
  return {
    clientOf,
    clientOwner,
    holdUnsentBytes: createHoldUnsentBytes(clientOwner),
    names,
    exposed,
    synthesis,
    unread: limits.unread,
    presenter,
    credentialReader,
    gate: createGate({ ...access, credentialReader, clientOf }),
    apiCors: createApiCors({ isVerified, exposed }),
    renewToken: createRenewToken(accessTokens, names),
    schema: synthesizeRequest(settings.maxTextCharacters),
  };
};

const composeRouter = (
  { settings, clock, log }: Runtime,
  {
    core,
    access,
    audio,
    speech,
    health,
    status,
    sealer,
    audioReports,
    eventLog,
    gallery,
    voiceFiles,
  }: Application,
  common: ReturnType<typeof composeCommon> & Pick<BundleLoader, "bundles">,
) => {
  const { names, gate, credentialReader, clientOf, renewToken } = common;
  const { streaming, synthesis } = speech;
  const operations = createOperations({
    ...core,
    ...access,
    ...speech,
    ...health,
    ...status,
    ...sealer,
    ...common,
    settings,
    log,
    version: packageJson.version,
    publicPath: publicPathOf(settings.publicUrl),
    streamResponse: createStreamResponse({ streaming, synthesis, names, renewToken }),
    getAudio: audio.pipeline.getAudio,
    audioReads: withLegacyAddresses(audio.pipeline, settings.audioLegacyUntil, clock),
    ...audioReports,
    findPinnedScripts: createFindPinnedScripts({ store: core.store, view: core.runner.view(pageScripts) }),
    eventLog,
    voiceFiles,
    gallery,
    readWebsitePage: createReadWebsitePage({
      websites: core.websites,
      requestPage: openRequestPage(settings.upstreamNetworks, log),
    }),
  });
  const { adminTokens, auditorTokens } = settings;
  const admin = { adminTokens, auditorTokens, failures: access.limits.failures, clientOf };
  const evenSuspended = admitWebsite(gate, { suspended: "allowed" });
  return createRouter(
    operations,
    {
      website: admitWebsite(gate),
      "website, if it has credentials": admitIfCredentials(gate, credentialReader),
      "website, even suspended": evenSuspended,
      "anyone, or auditor": admitAnyone(admin),
      "website even suspended, or auditor": authorizeAuditorOr(evenSuspended, admin),
      operator: authorizeAdmin("operator", admin),
      auditor: authorizeAdmin("auditor", admin),
    },
    compatibleApis,
  );
};
