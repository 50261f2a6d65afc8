import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { type Logger, pino } from "pino";
import { keys as keysProjection } from "../../../projections/keys.ts";
import { rate } from "../../../projections/rate.ts";
import { websites as websitesProjection } from "../../../projections/websites.ts";
import { type AccessTokens, createAccessTokens } from "../../../src/application/access/access-tokens.ts";
import { createAuthenticator } from "../../../src/application/access/authentication.ts";
import type { SynthesisPlan, SynthesisRequest } from "../../../src/application/synthesis/planner.ts";
import { type Core, composeCore } from "../../../src/bootstrap/core.ts";
import type { Plan } from "../../../src/domain/accounts/plan.ts";
import { countCharacters } from "../../../src/domain/synthesis/count-characters.ts";
import { createCredentialReader } from "../../../src/http/access/credentials.ts";
import { clientAddress } from "../../../src/http/kernel/client-address.ts";
import { listen } from "../../../src/http/kernel/server.ts";
import { synthesizeRequest } from "../../../src/http/routes/synthesis/request.ts";
import { createHandshakeAdmission } from "../../../src/http/websocket/admission.ts";
import type { SocketLimits } from "../../../src/http/websocket/open-sockets.ts";
import { openStreamOperation } from "../../../src/http/websocket/operation.ts";
import {
  createSynthesisSocketServer,
  type SynthesisSocketServer,
} from "../../../src/http/websocket/websocket-server.ts";
import { createRateLimiter } from "../../../src/limits/rate-limiter.ts";
import type { OpenShares } from "../../../src/limits/shares.ts";
import { readSettings } from "../../../src/settings/read-settings.ts";
import { instrumentAuthenticator, instrumentLimiter } from "../../../src/telemetry/decorators/access.ts";
import type { Counter } from "../../../src/telemetry/instruments.ts";
import { machineAt } from "../../support/in-process-service.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { routerOf, testApp } from "../../support/operation-server.ts";
import { temporaryFolder } from "../../support/service.ts";
import { testLimits } from "../../support/test-limits.ts";
import { createManualStreaming, type ManualStreaming } from "./manual-streaming.ts";

/**
 * The socket on a real server, with real keys and limits. The test controls time and the syntheses.
 */
export interface TestSocketServer {
  /** `ws://…/v2/text/stream` */
  readonly url: string;
  readonly httpUrl: string;
  readonly core: Core;
  readonly streaming: ManualStreaming;
  readonly socket: SynthesisSocketServer;
  readonly accessTokens: AccessTokens;
  /** The wall clock of the service. */
  readonly wallTime: { now: number };
  /** The clock of the socket's timeouts. */
  readonly time: ManualTime;
  /** Advances the clock until the promise is settled. */
  elapseUntil<T>(promise: Promise<T>): Promise<T>;
  /** Every line logged, as JSON. */
  readonly log: readonly string[];
  /** Registers a website with a key. Its plan has high limits by default. */
  register(plan?: Partial<Plan>, origins?: readonly string[]): Promise<Registered>;
  close(): Promise<void>;
}

export interface Registered {
  readonly websiteId: string;
  readonly apiKey: string;
  readonly secretId: string;
  readonly headers: Record<string, string>;
}

export const maxTextCharacters = 5_000;

const defaultLimits: SocketLimits = {
  streamsPerSocket: 8,
  idleMs: 60_000,
  stallMs: 120_000,
};

interface ServerOptions {
  readonly inactivityMs?: number;
  readonly socketsPerKey?: number;
  /** Default: the server has all of each limit. */
  readonly openShares?: OpenShares;
  /** Counts what the limits refuse. */
  readonly refusals?: Counter;
}

const noCounter: Counter = { add: () => {}, entries: () => [] };

export const startSocketServer = async (
  limits: Partial<SocketLimits> = {},
  { inactivityMs = 120_000, socketsPerKey = 20, openShares, refusals = noCounter }: ServerOptions = {},
): Promise<TestSocketServer> => {
  await using opened = new AsyncDisposableStack();
  const folder = await temporaryFolder();
  opened.defer(folder.remove);
  const lines: string[] = [];
  const log: Logger = pino({ level: "debug" }, { write: (line) => void lines.push(line) });
  const wallTime = { now: Date.parse("2026-11-05T10:00:00.000Z") };
  const time = createManualTime();
  const wallClock = () => wallTime.now;
  const settings = readSettings({ DATA_DIR: folder.path, PORT: "0" });
  const core = await composeCore(settings, pino({ level: "silent" }), { machine: machineAt(wallTime) });
  opened.defer(core.close);
  const { store, runner } = core;
  const view = runner.view(rate);
  const limiter = createRateLimiter({
    store,
    view,
    instance: randomUUID(),
    clock: wallClock,
    time: { now: wallClock },
    ...(openShares && { openShares }),
  });
  opened.defer(limiter.close);
  const perKey = testLimits({ WS_SOCKETS_PER_KEY: socketsPerKey }, wallClock, openShares);
  const accessTokens = createAccessTokens({ key: Buffer.alloc(32, 7), ttlSeconds: 900, clock: wallClock });
  const authenticator = createAuthenticator({
    keys: runner.view(keysProjection),
    websites: runner.view(websitesProjection),
    accessTokens,
    failures: perKey.failures,
  });
  const streaming = createManualStreaming();
  const socket = createSynthesisSocketServer({
    admit: createHandshakeAdmission({
      credentialReader: createCredentialReader([]),
      authenticator: instrumentAuthenticator(refusals)(authenticator),
      limiter: instrumentLimiter(refusals)(limiter),
      limits: perKey,
      clientOf: clientAddress([]),
    }),
    services: {
      schema: synthesizeRequest(maxTextCharacters),
      synthesis: { plan },
      streaming: streaming.streaming,
    },
    limits: { ...defaultLimits, ...limits },
    maxTextCharacters,
    log,
    time,
  });
  const handle = testApp(routerOf([openStreamOperation()]), { log });
  const options = { host: "127.0.0.1", port: 0, maxTextCharacters, inactivityMs };
  const server = await listen({ handle, upgrade: socket, ...options });
  opened.defer(async () => {
    await Promise.all([elapseUntil(time, socket.drain(0)), server.drain(0)]);
  });
  const running = opened.move();
  return {
    url: `${server.url.replace("http", "ws")}/v2/text/stream`,
    httpUrl: server.url,
    core,
    streaming,
    socket,
    accessTokens,
    wallTime,
    time,
    elapseUntil: (promise) => elapseUntil(time, promise),
    log: lines,
    register: async (changes = {}, origins = []) => {
      const plan: Plan = {
        tier: "enterprise",
        requestsPerMinute: 100_000,
        monthlyCharacters: null,
        ...changes,
      };
      const website = await core.websites.register(
        { name: "a website", origins: [...origins], plan },
        { actor: "admin" },
      );
      const { apiKey, apiSecret, secretId } = website;
      return {
        websiteId: website.id,
        apiKey,
        secretId,
        headers: { "X-API-Key": apiKey, "X-API-Secret": apiSecret },
      };
    },
    close: () => running.disposeAsync(),
  };
};

const plan = ({ text, prosody, engine = "gwn", format = "mp3" }: SynthesisRequest): SynthesisPlan => ({
  characters: countCharacters(text),
  muted: prosody.volume === 0,
  renditions: [{ recipe: { engine, format, text } } as SynthesisPlan["renditions"][0]],
  catalogRevision: "none",
  shared: false,
});

/** Each step is shorter than the interval of the liveness checks in all tests. */
const stepMs = 10;

const elapseUntil = async <T>(time: ManualTime, promise: Promise<T>): Promise<T> => {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  promise.then(settle, settle);
  while (!isSettled) {
    time.advance(stepMs);
    await setImmediate();
  }
  return await promise;
};
