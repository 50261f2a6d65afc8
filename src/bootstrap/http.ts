import { setTimeout as delay } from "node:timers/promises";
import { measureSound } from "../audio/formats/containers.ts";
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
import type { Access } from "./access.ts";
import type { Core, Runtime } from "./core.ts";
import type { HealthChecks } from "./health.ts";
import type { Sound } from "./sound.ts";
import type { Speech } from "./speech.ts";

/** Everything that the operations call. */
export interface Application {
  readonly core: Core;
  readonly access: Access;
  readonly sound: Sound;
  readonly speech: Speech;
  readonly health: HealthChecks;
}

/** Listens for HTTP requests and WebSockets. Resolves with the base URL. */
export const serveHttp = async (runtime: Runtime, application: Application): Promise<string> => {
  const { settings, log, telemetry, resources, shutdownTimeLeft } = runtime;
  const { access, speech, health } = application;
  const { requests: observer } = telemetry;
  const shared = composeShared(settings, application);
  const { clientOf, apiCors, exposed, renewToken, schema } = shared;
  const router = await composeRouter(settings, application, shared);
  const policies = [
    compressJson(),
    cors(router, apiCors, exposed),
    renewTokens(renewToken),
    announceDeprecation(router),
  ];
  const app = createApp({ log, observer, router, policies });
  const fastPath = createFastPath({ ...shared, apiCors, log, observer });
  const sockets = createSynthesisSocketServer({
    admit: createHandshakeAdmission({ ...access, clientOf }),
    services: { schema, ...speech },
    limits: settings.sockets,
    maxTextCharacters: settings.maxTextCharacters,
    log,
  });
  const listening = listen({ ...settings, app, fastPath, upgrade: telemetry.upgrade(sockets) });
  const server = await listening.catch(nameListenSetting);
  resources.defer(async () => {
    health.readiness.drain();
    await delay(settings.drainDelaySeconds * 1_000);
    await Promise.all([server.drain(shutdownTimeLeft()), sockets.drain(shutdownTimeLeft())]);
  });
  return server.url;
};

/** What the operations, the fast path and the sockets share. */
const composeShared = (settings: Settings, { access, speech }: Application) => {
  const { accessTokens, isVerified } = access;
  const { synthesis } = speech;
  const clientOf = clientAddress(settings.trustProxy);
  const names = headerNames(settings.headerPrefix);
  const exposed = exposedHeaders(names);
  const audioDuration = createAudioDuration(measureSound);
  const presenter = createSynthesisPresenter({
    synthesis,
    names,
    publicPath: publicPathOf(settings.publicUrl),
    publicCors: publicCors(exposed),
    audioDuration,
  });
  return {
    clientOf,
    names,
    exposed,
    audioDuration,
    synthesis,
    presenter,
    gate: createGate({ ...access, clientOf }),
    prepared: createPreparedPlans(),
    apiCors: createApiCors({ isVerified, exposed }),
    renewToken: createRenewToken(accessTokens, names),
    schema: synthesizeRequest(settings.maxTextCharacters),
  };
};

const composeRouter = async (
  settings: Settings,
  { core, access, sound, speech, health }: Application,
  shared: ReturnType<typeof composeShared>,
) => {
  const { names, gate, clientOf, renewToken } = shared;
  const { streaming } = speech;
  const { failedAttempts } = access;
  const operations = createOperations({
    ...core,
    ...access,
    ...speech,
    ...health,
    ...shared,
    settings,
    streamAnswer: createStreamAnswer({ streaming, names, renewToken }),
    getObject: sound.pipeline.getObject,
    clientScript: await bundleClient(),
  });
  return createRouter(operations, {
    website: authenticated(gate),
    "website, even suspended": authenticated(gate, { suspended: "allowed" }),
    operator: operatorOnly({ adminToken: settings.adminToken, failedAttempts, clientOf }),
  });
};

const nameListenSetting = (error: NodeJS.ErrnoException): Promise<never> => {
  const isPortError = error.code === "EADDRINUSE" || error.code === "EACCES";
  return withSettingName(isPortError ? "PORT" : "HOST", Promise.reject(error));
};
