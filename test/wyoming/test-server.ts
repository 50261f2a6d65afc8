import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { keys as keysProjection } from "../../projections/keys.ts";
import { rate } from "../../projections/rate.ts";
import { websites as websitesProjection } from "../../projections/websites.ts";
import { createAccessTokens } from "../../src/application/access/access-tokens.ts";
import { type Authenticator, createAuthenticator } from "../../src/application/access/authentication.ts";
import type { SynthesisPlan, SynthesisRequest } from "../../src/application/synthesis/planner.ts";
import { type Core, composeCore } from "../../src/bootstrap/core.ts";
import type { Plan } from "../../src/domain/accounts/plan.ts";
import { countCharacters } from "../../src/domain/synthesis/count-characters.ts";
import { createRateLimiter } from "../../src/limits/rate-limiter.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { createCaller } from "../../src/wyoming/caller.ts";
import { listenForWyoming, type WyomingLimits, type WyomingServer } from "../../src/wyoming/server.ts";
import { createManualStreaming, type ManualStreaming } from "../http/websocket/manual-streaming.ts";
import { machineAt } from "../support/in-process-service.ts";
import { createManualTime, type ManualTime } from "../support/manual-time.ts";
import { temporaryFolder } from "../support/service.ts";
import { testLimits } from "../support/test-limits.ts";
import { openRawClient, type RawClient } from "./raw-client.ts";

/** The server with a real key and real limits. The test controls time and the syntheses. */
export interface TestWyomingServer {
  readonly server: WyomingServer;
  readonly core: Core;
  readonly authenticator: Authenticator;
  readonly website: {
    readonly id: string;
    readonly apiKey: string;
    readonly apiSecret: string;
    readonly secretId: string;
  };
  readonly streaming: ManualStreaming;
  readonly time: ManualTime;
  /** Every line logged, as JSON. */
  readonly log: readonly string[];
  connect(...options: [options?: Parameters<typeof openRawClient>[1]]): Promise<RawClient>;
  close(): Promise<void>;
}

export const startWyomingServer = async ({
  plan: changes = {},
  limits = {},
}: {
  plan?: Partial<Plan>;
  limits?: Partial<WyomingLimits>;
} = {}): Promise<TestWyomingServer> => {
  await using opened = new AsyncDisposableStack();
  const folder = await temporaryFolder();
  opened.defer(folder.remove);
  const now = Date.parse("2026-11-05T10:00:00.000Z");
  const clock = () => now;
  const settings = readSettings({ DATA_DIR: folder.path, PORT: "0" });
  const core = await composeCore(settings, pino({ level: "silent" }), { machine: machineAt({ now }) });
  opened.defer(core.close);
  const { store, runner } = core;
  const instance = randomUUID();
  const limiter = createRateLimiter({ store, view: runner.view(rate), instance, clock });
  opened.defer(limiter.close);
  const authenticator = createAuthenticator({
    keys: runner.view(keysProjection),
    websites: runner.view(websitesProjection),
    accessTokens: createAccessTokens({ key: Buffer.alloc(32, 7), ttlSeconds: 900, clock }),
    failures: testLimits({}, clock).failures,
  });
  const plan: Plan = { tier: "enterprise", requestsPerMinute: 100_000, monthlyCharacters: null, ...changes };
  const website = await core.websites.register({ name: "home", origins: [], plan }, { actor: "admin" });
  const streaming = createManualStreaming();
  const time = createManualTime();
  const lines: string[] = [];
  const server = await listenForWyoming({
    host: "127.0.0.1",
    port: 0,
    services: {
      caller: createCaller({ authenticator, limiter, key: website }),
      synthesis: { plan: planOf },
      streaming: streaming.streaming,
      info: () => Buffer.from('{"type":"info","data_length":2,"payload_length":0}\n{}'),
      configOf: (id) => core.websites.get(id).config,
    },
    maxTextCharacters: 1_000,
    log: pino({ level: "debug" }, { write: (line) => void lines.push(line) }),
    time,
    limits,
  });
  const clients: RawClient[] = [];
  opened.defer(async () => {
    for (const { socket } of clients) socket.destroy();
    await server.drain(60_000);
  });
  const running = opened.move();
  return {
    ...{ server, core, authenticator, website, streaming, time, log: lines },
    connect: async (options) => {
      const client = await openRawClient(server.url, options);
      clients.push(client);
      return client;
    },
    close: () => running.disposeAsync(),
  };
};

const planOf = ({ text, prosody }: SynthesisRequest): SynthesisPlan => ({
  characters: countCharacters(text),
  muted: prosody.volume === 0,
  renditions: [{ recipe: { engine: "g1", format: "pcm", text } } as SynthesisPlan["renditions"][0]],
  catalogRevision: "none",
  shared: true,
});
