import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { admin, authorize, type Credentials, registerWebsite } from "../../support/client.ts";
import {
  ask,
  type InProcessService,
  type ReceivedResponse,
  startInProcessService,
} from "../../support/in-process-service.ts";
import { adminToken } from "../../support/service.ts";
import { openWebSocketClient } from "../../support/websocket-client.ts";
import { closedGate, type Gate } from "../../support/wire/gate.ts";
import { openAiApiKey, serveOpenAi } from "../../support/wire/openai.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";

/**
 * A voice of the free engine, which a server of the operator speaks, and one of the website's own
 * account.
 */
const free = "af_bella";
const paid = "alloy";
const text = "ten chars!";
const path = "/v2/text/synthesize";

describe("Work of an engine is charged", () => {
  let freeServer: WireServer;
  let provider: WireServer;
  let service: InProcessService;
  let website: Credentials;
  let gate: Gate | undefined;

  before(async () => {
    [freeServer, provider] = await Promise.all([
      serveOpenAi({ apiKey: openAiApiKey, models: ["kokoro"], voices: [free] }),
      serveOpenAi(),
    ]);
    service = await startInProcessService({
      ENGINE_G1: `openai:${freeServer.url}/v1?model=kokoro&voices=${free}&key=${openAiApiKey}`,
      OPENAI_URL: provider.url,
      BURST_LIMIT: "1000000",
    });
  });
  after(async () => {
    await service.close();
    await Promise.all([freeServer.close(), provider.close()]);
  });
  beforeEach(() => register());
  afterEach(() => {
    for (const { faults } of [freeServer, provider]) faults.none();
    gate?.open();
    gate = undefined;
  });

  const register = async (monthlyCharacters: number | null = null): Promise<void> => {
    website = await registerWebsite(service.url, { monthlyCharacters });
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, { apiKey: openAiApiKey });
  };
  const get = (
    query: Record<string, string>,
    headers = {},
    method = "GET",
    caller = website,
  ): Promise<ReceivedResponse> =>
    ask(`${service.url}${path}?${new URLSearchParams(query)}`, {
      method,
      headers: { ...authorize(caller), ...headers },
    });
  const post = (to: string, body: object, headers = {}): Promise<ReceivedResponse> =>
    ask(service.url + to, {
      method: "POST",
      headers: { ...authorize(website), "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  /** The texts that a server was asked to speak since the start. */
  const spokenBy = ({ requests }: WireServer): string[] =>
    requests
      .filter(({ path }) => path === "/v1/audio/speech")
      .map(({ body }) => JSON.parse(String(body)).input);
  const entries = async (): Promise<{ type: string; data: { characters: number } }[]> => {
    const headers = { Authorization: `Bearer ${adminToken}` };
    const { text: lines } = await ask(`${service.url}/admin/audit?apiKey=${website.apiKey}`, { headers });
    return lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  };
  /** Characters, from the log itself. */
  const charged = async (): Promise<number> =>
    (await entries()).reduce(
      (sum, { type, data }) =>
        sum +
        (type === "SynthesisServed" ? data.characters : type === "ServingVoided" ? -data.characters : 0),
      0,
    );
  const untilCharged = async (characters: number): Promise<void> => {
    while ((await charged()) !== characters) await new Promise(setImmediate);
  };
  /** The server speaks when the gate opens. */
  const hold = (server: WireServer): Gate => {
    gate = closedGate();
    server.faults.always({ kind: "slow", gate });
    return gate;
  };
  const unused = (): string => randomUUID().slice(0, 10);

  for (const voice of [free, paid]) {
    const server = () => (voice === free ? freeServer : provider);

    describe(`with the ${voice === free ? "free" : "paid"} voice`, () => {
      it("for a range that cannot be satisfied", async () => {
        const query = { voice, text: unused() };
        const { status } = await get(query, { Range: "bytes=999999999-" });
        expect([status, await charged()]).to.deep.equal([416, 10]);
        expect((await get(query, { Range: "bytes=999999999-" })).status).to.equal(416);
        expect(await charged()).to.equal(10);
      });

      it("and does not begin for a range beyond the quota", async () => {
        await register(9);
        const before = spokenBy(server()).length;
        const { status } = await get({ voice, text: unused() }, { Range: "bytes=999999999-" });
        expect([status, spokenBy(server()).length - before]).to.deep.equal([403, 0]);
      });

      it("and begins once for concurrent requests whose quota suffices for one", async () => {
        await register(10);
        const opened = hold(server());
        const before = spokenBy(server()).length;
        const all = Array.from({ length: 5 }, () => get({ voice, text: unused() }));
        await opened.reached();
        opened.open();
        const statuses = (await Promise.all(all)).map(({ status }) => status);
        expect(statuses.toSorted()).to.deep.equal([200, 403, 403, 403, 403]);
        expect(spokenBy(server()).length - before).to.equal(1);
      });

      it("and does not begin for another text with the Idempotency-Key of one that is being spoken", async () => {
        const opened = hold(server());
        const [first, second] = [unused(), "short"];
        const key = { "Idempotency-Key": unused() };
        const spoken = get({ voice, text: first }, key);
        await opened.reached();
        expect((await get({ voice, text: second }, key)).status).to.equal(400);
        const repeat = get({ voice, text: first }, key);
        opened.open();
        expect([(await spoken).status, (await repeat).status]).to.deep.equal([200, 200]);
        expect(spokenBy(server())).not.to.include(second);
        expect(await charged()).to.equal(10);
      });

      it("and does not begin for a range, a stream or times with an Idempotency-Key of another text", async () => {
        const key = { "Idempotency-Key": unused() };
        await get({ voice, text }, key);
        const before = spokenBy(server()).length;
        const other = unused();
        const statuses = [
          await get({ voice, text: other }, { ...key, Range: "bytes=999999999-" }),
          await post("/openai/v1/audio/speech", { model: "tts-1", voice, input: other }, key),
          await post(`/elevenlabs/v1/text-to-speech/${voice}/with-timestamps`, { text: other }, key),
        ].map(({ status }) => status);
        expect(statuses).to.deep.equal([400, 400, 400]);
        expect(spokenBy(server()).length - before).to.equal(0);
      });
    });
  }

  it("for a client that leaves while a provider works, and for the eleventh in a minute at a free engine", async () => {
    const leaveWhileWorking = async (voice: string, server: WireServer, times: number): Promise<void> => {
      hold(server);
      for (let n = 0; n < times; n++) {
        const leaving = new AbortController();
        const before = server.requests.length;
        const url = `${service.url}${path}?${new URLSearchParams({ voice, text: unused() })}`;
        const left = fetch(url, { headers: authorize(website), signal: leaving.signal }).catch(() => {});
        await server.seen(before + 1);
        leaving.abort();
        await left;
        await server.until(() => server.requests[before]?.outcome === "left");
      }
    };
    await leaveWhileWorking(paid, provider, 2);
    await untilCharged(20);
    await leaveWhileWorking(free, freeServer, 12);
    await untilCharged(40);
    service.time.now += 60_000;
    await leaveWhileWorking(free, freeServer, 11);
    await untilCharged(50);
  });

  it("for WebSocket clients that never read what a provider has spoken", async () => {
    const sentence = "Nobody reads this. ".repeat(11).slice(0, 200);
    const before = spokenBy(provider).length;
    const clients = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const client = await openWebSocketClient(`${service.url.replace("http", "ws")}/v2/text/stream`, {
          headers: authorize(website),
        });
        client.webSocket.pause();
        const request = { voice: paid, text: `${n}${sentence}`.slice(0, 200) };
        client.send({ type: "synthesize", id: randomUUID(), request });
        return client;
      }),
    );
    while (spokenBy(provider).length - before < 8) await new Promise(setImmediate);
    for (const { webSocket } of clients) webSocket.terminate();
    await untilCharged(8 * 200);
    expect((await entries()).filter(({ type }) => type === "ServingVoided")).to.deep.equal([]);
  });

  it("once for as many bytes of private audio as it has, in any parts, within ten minutes", async () => {
    const query = { voice: paid, text: unused() };
    const whole = await get(query);
    const size = Number(whole.headers["content-length"]);
    const half = Math.floor(size / 2);
    for (const [range, characters] of [
      ["bytes=0-", 20],
      [`bytes=0-${half - 1}`, 30],
      [`bytes=${half}-`, 30],
      [`bytes=${half}-`, 40],
    ] as const) {
      expect((await get(query, { Range: range })).status).to.equal(206);
      expect(await charged(), range).to.equal(characters);
    }
  });

  it("and neither HEAD nor If-None-Match: * tells a key what others had spoken", async () => {
    const query = { voice: free, text: unused() };
    await get(query);
    const stranger = await registerWebsite(service.url);
    const never = await get({ ...query, text: unused() }, {}, "HEAD", stranger);
    const asked = await get(query, {}, "HEAD", stranger);
    expect(Object.keys(asked.headers)).to.deep.equal(Object.keys(never.headers));
    expect(asked.headers).not.to.have.any.keys("content-length", "svc-cached", "x-audio-duration");
    // With the name, `/audio/` would tell it, and send the audio.
    expect(asked.headers).not.to.have.any.keys("etag", "content-location", "link");
    const any = { "If-None-Match": "*" };
    expect((await get(query, any, "HEAD", stranger)).status).to.equal(200);
    expect((await get(query, any, "HEAD")).status).to.equal(304);
    expect((await get(query, {}, "HEAD")).headers).to.include({ "svc-cached": "memory" });
    service.time.now += 10 * 60_000 + 1;
    expect((await get(query, {}, "HEAD")).headers).not.to.have.any.keys("content-length", "svc-cached");
  });
});
