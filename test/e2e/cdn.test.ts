import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { prepareArticle, urlsOf } from "../support/articles.ts";
import { openBalancer } from "../support/balancer.ts";
import { admin, authorize, type Credentials, errorOf, registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { type Exchange, openExchange, type Received } from "../support/exchange.ts";
import { adminToken, type RunningService, startService, temporaryFolder } from "../support/service.ts";
import { startVarnish, type Varnish } from "../support/varnish.ts";
import { openWebSocketClient } from "../support/websocket-client.ts";
import { goodCredentials, serveProviders } from "../support/wire/providers.ts";

type Headers = Record<string, string>;

const purgeToken = "a token for those who purge";
const free = "UK English Female";
const paid = "alloy";
let sentences = 0;
/** The path of a synthesis that was never requested before. */
const something = (): string => `Sentence number ${++sentences}.`;
const spoken = (voice: string, text = something(), more: Headers = {}): string =>
  `/v2/text/synthesize?${new URLSearchParams({ voice, text, ...more })}`;
const json = { "Content-Type": "application/json" };

describe("Varnish with the configuration of infra/varnish in front of two instances", () => {
  const folder = duringSuite(temporaryFolder);
  const providers = duringSuite(serveProviders);
  let instances: [RunningService, RunningService];
  let varnish: Varnish;
  /** In front of `balancer`, without a purge token: its objects expire after a second. */
  let shortLived: Varnish;
  let balancer: Awaited<ReturnType<typeof openBalancer>>;
  let connection: ReturnType<typeof openExchange>;
  let website: Credentials;

  before(async () => {
    const env = { TRUST_PROXY: "127.0.0.1", ...providers.env };
    instances = [await startService(folder.path, env), await startService(folder.path, env)];
    varnish = await startVarnish([instances[0].url, instances[1].url], { purgeToken });
    balancer = await openShorteningBalancer();
    shortLived = await startVarnish([balancer.url, balancer.url]);
    connection = openExchange(varnish.url);
    website = await aWebsite();
  });
  after(async () => {
    connection?.close();
    await Promise.all([varnish?.stop(), shortLived?.stop(), balancer?.close()]);
    await Promise.all(instances.map((instance) => instance.stop()));
  });

  /** Reduces every lifetime to one second. */
  const openShorteningBalancer = () =>
    openBalancer(
      instances.map(({ url }) => url),
      {
        onHeaders: (headers) => {
          headers["cache-control"] = headers["cache-control"]?.replace(
            /(s-maxage|^public, max-age)=\d+/,
            "$1=1",
          );
        },
      },
    );
  const ask: Exchange = (sent) => connection.exchange(sent);
  const get = (path: string, headers: Headers = {}) => ask({ method: "GET", path, headers });

  /** A website that both instances know, with its credentials. */
  const aWebsite = async ({ origin, openai = false }: { origin?: string; openai?: boolean } = {}) => {
    const registered = await registerWebsite(instances[0].url);
    const at = `/websites/${registered.id}`;
    if (origin) await admin(instances[0].url, "PUT", `${at}/origins`, { origins: [origin] });
    if (openai) await admin(instances[0].url, "PUT", `${at}/credentials/oai`, goodCredentials.oai);
    // Views follow the log in order: an instance that has its last event has all.
    const last = { welcomeMessageOnce: true };
    await admin(instances[0].url, "PUT", `${at}/config`, { features: last });
    for (let seen = false; !seen; ) {
      const { body } = await admin(instances[1].url, "GET", at);
      seen = JSON.stringify(body.storedConfig ?? {}).includes("welcomeMessageOnce");
    }
    return registered;
  };

  /** The number of the website's syntheses in the ledger: requests that an instance completed. */
  const recorded = async ({ apiKey }: Credentials): Promise<number> => {
    const response = await fetch(`${instances[0].url}/admin/audit?apiKey=${apiKey}`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    return (await response.text()).split("\n").filter((line) => line.includes('"SynthesisServed"')).length;
  };
  const upstreamRequests = (): number =>
    providers.oai.requests.filter(({ path }) => path === "/v1/audio/speech").length;

  const purge = (path: string, headers: Headers = { Authorization: `Bearer ${purgeToken}` }) =>
    ask({ method: "PURGE", path, headers });
  const fromCache = ({ headers }: Received): string | undefined => headers["x-cache"];
  const hashOf = ({ headers }: Received): string => headers.etag?.replaceAll('"', "") ?? "";

  describe("public audio", () => {
    it("is served from the cache on the second GET, without a request to an instance or an entry in the ledger", async () => {
      const path = spoken(free);
      const before = await recorded(website);
      const first = await get(path, authorize(website));
      expect([first.status, fromCache(first)]).to.deep.equal([200, "miss"]);
      expect(await recorded(website)).to.equal(before + 1);
      const second = await get(path, authorize(website));
      expect([second.status, fromCache(second)]).to.deep.equal([200, "hit"]);
      expect(Number(second.headers.age)).to.be.at.least(0);
      expect(second.body.equals(first.body)).to.equal(true);
      for (const name of ["etag", "cache-control", "content-location", "svc-prosody-applied", "vary"]) {
        expect(second.headers[name], name).to.equal(first.headers[name]);
      }
      expect(await recorded(website)).to.equal(before + 1);
    });

    it("of a free engine is served to every caller and origin, without rate limit headers", async () => {
      const path = spoken(free);
      await get(path, { ...authorize(website), Origin: "https://shop.example" });
      for (const headers of [{}, { Origin: "https://rival.example" }, { Origin: "null" }] as Headers[]) {
        const response = await get(path, headers);
        expect([response.status, fromCache(response)]).to.deep.equal([200, "hit"]);
        expect(response.headers).to.include({ "access-control-allow-origin": "*" });
        expect(response.headers).not.to.have.any.keys("x-ratelimit-limit", "x-ratelimit-remaining", "vary");
      }
    });

    it("is cached for v1 and for silence as well", async () => {
      const legacy = `/v1/text:synthesize?${new URLSearchParams({ lang: "en-GB", text: something() })}`;
      for (const path of [legacy, spoken(free, something(), { volume: "0" })]) {
        const first = await get(path, authorize(website));
        expect(fromCache(first), path).to.equal("miss");
        const second = await get(path, authorize(website));
        expect([second.status, fromCache(second)], path).to.deep.equal([first.status, "hit"]);
      }
    });

    it("is served from the cache for HEAD, range and conditional requests", async () => {
      const path = spoken(free);
      const whole = await get(path, authorize(website));
      const etag = whole.headers.etag ?? "";
      const head = await ask({ method: "HEAD", path });
      expect([head.status, fromCache(head), head.headers["content-length"]]).to.deep.equal([
        ...[200, "hit", String(whole.body.length)],
      ]);
      const part = await get(path, { Range: "bytes=2-5" });
      expect([part.status, fromCache(part)]).to.deep.equal([206, "hit"]);
      expect(part.body.equals(whole.body.subarray(2, 6))).to.equal(true);
      expect((await get(path, { Range: `bytes=${whole.body.length}-` })).status).to.equal(416);
      const unchanged = await get(path, { "If-None-Match": etag });
      expect([unchanged.status, unchanged.headers.etag]).to.deep.equal([304, etag]);
      expect(unchanged.body).to.have.length(0);
    });

    it("is not synthesized for HEAD or conditional requests that miss the cache", async () => {
      const text = something();
      const path = spoken(free, text);
      const before = await recorded(website);
      const head = await ask({ method: "HEAD", path, headers: authorize(website) });
      expect(head.status).to.equal(200);
      expect(head.headers).not.to.have.any.keys("content-length", "etag");
      expect(await recorded(website)).to.equal(before);
      const made = await get(spoken(free, text, { other: "address" }), authorize(website));
      const condition = { ...authorize(website), "If-None-Match": made.headers.etag ?? "" };
      expect((await get(path, condition)).status).to.equal(304);
      expect(await recorded(website)).to.equal(before + 1);
    });

    it("is fetched completely once for a range request that misses the cache", async () => {
      const path = spoken(free);
      const before = await recorded(website);
      for (const range of ["bytes=0-1", "bytes=0-", "bytes=10-20"]) {
        expect((await get(path, { ...authorize(website), Range: range })).status).to.equal(206);
      }
      expect(await recorded(website)).to.equal(before + 1);
    });

    it("is cached as immutable objects without credentials, unless the object is missing", async () => {
      const made = await get(spoken(free), authorize(website));
      const path = made.headers["content-location"] ?? "";
      // The cache may ask the other instance, which has it when it is in the store.
      let pulled = await get(path);
      while (pulled.status === 404) pulled = await get(path);
      expect(pulled.body.equals(made.body)).to.equal(true);
      const again = await get(path);
      expect([again.status, fromCache(again)]).to.deep.equal([200, "hit"]);
      expect(again.headers["cache-control"]).to.equal("public, max-age=31536000, immutable");
      const missing = `/audio/${"0".repeat(64)}.mp3`;
      for (const _ of ["once", "twice"]) {
        const response = await get(missing);
        expect([response.status, fromCache(response)]).to.deep.equal([404, "miss"]);
      }
    });
  });

  describe("the parts of an article", () => {
    it("are pulled once by the cache for all readers, also before they are spoken, and can be purged", async () => {
      const texts = Array.from({ length: 4 }, something);
      const before = await recorded(website);
      const article = await prepareArticle(varnish.url, website, texts);
      const paths = urlsOf(article).map((url) => new URL(url).pathname + new URL(url).search);
      const readers = Array.from({ length: 10 }, async () => {
        for (const path of paths) expect((await fetch(varnish.url + path)).status).to.equal(200);
      });
      await Promise.all(readers);
      const again = await prepareArticle(varnish.url, website, texts);
      expect(urlsOf(again)).to.deep.equal(urlsOf(article));
      for (const path of paths) expect(fromCache(await get(path))).to.equal("hit");
      expect(await recorded(website)).to.equal(before + texts.length);
      const [first = ""] = paths;
      expect((await purge(first.replace(/[?].*/, ""))).status).to.equal(200);
      expect(fromCache(await get(first))).to.equal("miss");
    });
  });

  describe("audio of a website's own provider", () => {
    const shop = "https://shop.example";
    let owner: Credentials;
    let other: Credentials;
    before(async () => {
      owner = await aWebsite({ origin: shop, openai: true });
      other = await aWebsite({ openai: true });
    });

    it("is never cached, so that each request for it is in the ledger", async () => {
      const path = spoken(paid);
      const [sent, before] = [upstreamRequests(), await recorded(owner)];
      const [first, second] = [await get(path, authorize(owner)), await get(path, authorize(owner))];
      for (const response of [first, second]) {
        expect([response.status, fromCache(response)]).to.deep.equal([200, "miss"]);
        expect(response.headers).to.include({ "cache-control": "private, max-age=86400", vary: "Origin" });
      }
      expect(second.body.equals(first.body)).to.equal(true);
      expect([upstreamRequests(), await recorded(owner)]).to.deep.equal([sent + 1, before + 2]);
    });

    it("is never served to another website, which gets its own synthesis at its own expense", async () => {
      const path = spoken(paid);
      const [sent, owners] = [upstreamRequests(), await get(path, authorize(owner))];
      const others = await get(path, authorize(other));
      expect([others.status, fromCache(others)]).to.deep.equal([200, "miss"]);
      expect(hashOf(others)).not.to.equal(hashOf(owners));
      expect(upstreamRequests()).to.equal(sent + 2);
    });

    it("is never served without the website's credentials", async () => {
      const path = spoken(paid, something(), { key: owner.apiKey });
      expect((await get(path, { Referer: `${shop}/` })).status).to.equal(200);
      for (const headers of [
        {},
        { "X-API-Secret": other.apiSecret },
        { Authorization: "Bearer x" },
        { Origin: "https://rival.example" },
        { Referer: "https://rival.example/" },
      ] as Headers[]) {
        const response = await get(path, headers);
        expect([response.status, fromCache(response)], JSON.stringify(headers)).to.deep.equal([401, "miss"]);
      }
    });

    it("has no immutable address", async () => {
      const made = await get(spoken(paid), authorize(owner));
      expect(made.headers).not.to.have.any.keys("content-location");
      for (const folder of ["audio", "private", "public"]) {
        expect((await get(`/${folder}/${hashOf(made)}.mp3`)).status).to.equal(404);
      }
    });
  });

  describe("responses that are never cached", () => {
    it("include the configuration, the voices, health and the OpenAPI document", async () => {
      for (const path of [
        "/v2/config",
        "/v2/voices",
        "/v2/voices/by-language/en-GB",
        "/health",
        "/openapi.json",
      ]) {
        for (const _ of ["once", "twice"]) {
          const response = await get(path, authorize(website));
          expect([response.status, fromCache(response), response.headers.age], path).to.deep.equal([
            200,
            "miss",
            "0",
          ]);
        }
      }
    });

    it("include refusals: a later request is served as soon as it is allowed", async () => {
      const path = spoken(free);
      for (const [headers, status] of [
        [{}, 401],
        [{ "X-API-Key": website.apiKey, "X-API-Secret": "wrong" }, 401],
        [authorize(website), 200],
      ] as [Headers, number][]) {
        expect((await get(path, headers)).status).to.equal(status);
      }
      for (const bad of ["/v2/text/synthesize?text=x", spoken("Nobody at all")]) {
        const [once, twice] = [await get(bad, authorize(website)), await get(bad, authorize(website))];
        expect([once, twice].map(fromCache), bad).to.deep.equal(["miss", "miss"]);
      }
    });

    it("include responses to POST, streams and tokens", async () => {
      const owner = await aWebsite({ openai: true });
      const post = (path: string, body: object, headers: Headers = {}) =>
        ask({
          method: "POST",
          path,
          headers: { ...authorize(owner), ...json, ...headers },
          body: JSON.stringify(body),
        });
      const speech = { voice: paid, text: something() };
      const events = { Accept: "text/event-stream" };
      for (const response of [
        await post("/v2/text/synthesize", speech),
        await post("/v2/text/synthesize", speech),
        await post("/v2/text/synthesize", { ...speech, stream: true }, events),
        await post("/v2/text/synthesize", { ...speech, stream: true }, events),
        await post("/v2/auth/refresh", {}),
      ]) {
        expect([response.status, fromCache(response)]).to.deep.equal([200, "miss"]);
      }
      expect(await recorded(owner)).to.equal(4);
    });

    it("include WebSockets, which are passed through", async () => {
      const owner = await aWebsite({ openai: true });
      const client = await openWebSocketClient(`${varnish.url.replace("http", "ws")}/v2/text/stream`, {
        headers: authorize(owner),
      });
      client.send({ type: "ping" });
      expect(await client.next()).to.deep.equal({ type: "pong" });
      await client.close();
    });

    it("include the operator's interface, which is not reachable", async () => {
      for (const path of ["/admin/websites", "/ADMIN/keys", "/admin", "/metrics"]) {
        const response = await get(path, { Authorization: `Bearer ${adminToken}` });
        expect(response.status, path).to.equal(404);
      }
    });
  });

  describe("a purge by hash", () => {
    it("removes the object and every response with its audio, and nothing else", async () => {
      const [path, elsewhere, kept] = [
        spoken(free, "Purge me."),
        spoken(free, "Purge me.", { rate: "1" }),
        spoken(free),
      ];
      const made = await get(path, authorize(website));
      const object = made.headers["content-location"] ?? "";
      const all = [path, elsewhere, object];
      for (const one of [...all, kept]) await get(one, authorize(website));
      for (const one of [...all, kept]) expect(fromCache(await get(one)), one).to.equal("hit");
      const purged = await purge(object);
      expect([purged.status, String(purged.body)]).to.deep.equal([200, '{"purged":true}']);
      for (const one of all) expect(fromCache(await get(one, authorize(website))), one).to.equal("miss");
      expect(fromCache(await get(kept))).to.equal("hit");
    });

    it("is refused without its token or for an invalid hash, with the usual error envelope", async () => {
      const path = spoken(free);
      const made = await get(path, authorize(website));
      for (const headers of [{}, { Authorization: "Bearer wrong" }, authorize(website)] as Headers[]) {
        const refused = await purge(`/audio/${hashOf(made)}`, headers);
        expect(refused.status).to.equal(401);
        expect(JSON.parse(String(refused.body)).error).to.include({ statusCode: 401, code: "UNAUTHORIZED" });
      }
      for (const nonsense of ["/", "/audio/", `/audio/${hashOf(made)}" || obj.status == 200`, path]) {
        expect((await purge(encodeURI(nonsense))).status, nonsense).to.equal(400);
      }
      expect(fromCache(await get(path))).to.equal("hit");
    });

    it("is not available when no token is set", async () => {
      for (const headers of [{}, { Authorization: "Bearer " }, { Authorization: "Bearer" }]) {
        const response = await fetch(`${shortLived.url}/audio/${"0".repeat(64)}`, {
          method: "PURGE",
          headers,
        });
        expect([response.status, response.headers.get("Allow")]).to.deep.equal([405, "GET, HEAD"]);
        expect(JSON.parse(await response.text()).error).to.include({
          statusCode: 405,
          code: "METHOD_NOT_ALLOWED",
        });
      }
    });
  });

  describe("expiry", () => {
    it("serves stale responses while no instance is reachable, and 503 for anything else", async () => {
      await using upstream = await openShorteningBalancer();
      await using cache = await startVarnish([upstream.url, upstream.url]);
      const path = spoken(free);
      expect((await fetch(cache.url + path, { headers: authorize(website) })).status).to.equal(200);
      await upstream.close();
      const ask = () => fetch(cache.url + path);
      await until(async () => Number((await ask()).headers.get("age")) > 1);
      const stale = await ask();
      expect([stale.status, stale.headers.get("x-cache")]).to.deep.equal([200, "hit"]);
      const other = await fetch(cache.url + spoken(free), { headers: authorize(website) });
      expect([
        other.status,
        other.headers.get("retry-after"),
        other.headers.get("cache-control"),
      ]).to.deep.equal([...[503, "5", "no-store"]]);
      expect(await errorOf(other)).to.include({ statusCode: 503, code: "UNAVAILABLE" });
    });

    it("serves stale responses when the revalidating caller is refused", async () => {
      const path = spoken(free);
      expect((await fetch(shortLived.url + path, { headers: authorize(website) })).status).to.equal(200);
      const ask = () => fetch(shortLived.url + path);
      await until(async () => Number((await ask()).headers.get("age")) > 1);
      for (const _ of ["once", "twice"]) expect((await ask()).status).to.equal(200);
    });

    it("refetches fallback audio after its lifetime of a minute, and then caches the voice itself", async () => {
      const { url } = instances[0];
      const mute = { name: "Mute", lang: "en-GB", service: "g1", voiceName: "espeak:no-such-voice" };
      const { body } = await admin(url, "POST", "/system-voices", mute);
      const voice = { name: "Fallible", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [body.id, 10] };
      expect((await admin(url, "POST", "/voices", voice)).status).to.equal(201);
      await untilBothKnow(voice.name);
      const path = spoken(voice.name);
      const ask = () => fetch(shortLived.url + path, { headers: authorize(website) });
      const fallback = await ask();
      expect(fallback.headers.get("cache-control")).to.equal("public, max-age=1");
      await admin(url, "PATCH", `/voices/${voice.name}`, { voiceIDs: [10] });
      await until(async () => (await ask()).headers.get("cache-control")?.includes("s-maxage") ?? false);
      await until(async () => (await ask()).headers.get("x-cache") === "hit");
    });

    /** Polls until the condition holds; the test's own timeout is the limit. */
    const until = async (holds: () => Promise<boolean>): Promise<void> => {
      while (!(await holds())) await delay(50);
    };
    const untilBothKnow = (voice: string): Promise<void> =>
      until(async () => {
        const responses = await Promise.all(
          instances.map(({ url }) =>
            fetch(`${url}/v2/voices/${encodeURIComponent(voice)}`, { headers: authorize(website) }),
          ),
        );
        return responses.every(({ ok }) => ok);
      });
  });
});
