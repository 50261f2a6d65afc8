import { expect } from "chai";
import { admin, type Credentials, registerWebsite } from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { ask, type ReceivedResponse, startInProcessService } from "../../support/in-process-service.ts";

type Headers = Record<string, string | string[]>;

const shop = "https://shop.example";
const speech = "/v2/text/synthesize?voice=UK%20English%20Female&text=Hello.";

describe("authentication over HTTP", () => {
  const service = duringSuite(startInProcessService);
  const website = duringSuite(() => registerWebsite(service.url));
  const other = duringSuite(() => registerWebsite(service.url));

  before(async () => {
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [shop] });
    await get(pair());
  });
  beforeEach(() => {
    service.time.now += 60_000; // a new minute, so that the failures of other tests do not count
  });

  const key = () => ({ "X-API-Key": website.apiKey });
  const pair = () => ({ ...key(), "X-API-Secret": website.apiSecret });
  const get = (headers: Headers, query = "") => ask(service.url + speech + query, { headers });
  const post = (headers: Headers, query = "") =>
    ask(`${service.url}/v2/auth/refresh${query}`, { method: "POST", headers });
  const withKey = () => `&key=${website.apiKey}`;
  const tokenFor = async (headers: Headers): Promise<string> => JSON.parse((await post(headers)).text).token;

  /** The fast path, the router and HEAD must all accept or all refuse a caller. */
  const everyWay = async (headers: Headers, query = ""): Promise<ReceivedResponse[]> => [
    await get(headers, query),
    await get({ ...headers, Range: "bytes=0-9" }, query),
    await ask(service.url + speech + query, { method: "HEAD", headers }),
  ];

  const isLetIn = async (headers: Headers, query = "") => {
    const statuses = (await everyWay(headers, query)).map(({ status }) => status);
    expect(statuses).to.deep.equal([200, 206, 200]);
  };
  const isRefused = async (headers: Headers, query = "") => {
    for (const { status, headers: response } of await everyWay(headers, query)) {
      expect(status, JSON.stringify(headers) + query).to.equal(401);
      expect(response).to.include({ "www-authenticate": "Bearer", "cache-control": "no-store" });
    }
    service.time.now += 60_000;
  };

  describe("by two headers", () => {
    it("accepts a key with its secret, from any origin", async () => {
      await isLetIn(pair());
      await isLetIn({ ...pair(), Origin: "https://elsewhere.example" });
      await isLetIn({ ...pair(), Origin: "null" });
    });

    it("refuses a key or a secret without the other, even from a verified origin or with a valid token", async () => {
      const wrong = { ...key(), "X-API-Secret": "wrong" };
      await isRefused(wrong);
      await isRefused({ ...wrong, Origin: shop });
      await isRefused({ ...wrong, Authorization: `Bearer ${await tokenFor(pair())}` });
      await isRefused({ "X-API-Secret": website.apiSecret });
      await isRefused({ "X-API-Secret": website.apiSecret, Origin: shop }, withKey());
      await isRefused({ ...key(), "X-API-Secret": "", Origin: shop });
    });

    it("refuses the secret of another key, and repeated headers", async () => {
      await isRefused({ ...key(), "X-API-Secret": other.apiSecret });
      await isRefused({ ...pair(), "X-API-Secret": [website.apiSecret, website.apiSecret] });
      await isRefused({ ...pair(), "X-API-Key": [website.apiKey, other.apiKey] });
    });

    it("accepts a valid key and secret even with an invalid token", async () => {
      await isLetIn({ ...pair(), Authorization: "Bearer nonsense" });
    });
  });

  describe("by a single token, for clients that send no other credentials", () => {
    const single = ({ apiKey, apiSecret }: Credentials) => `${apiKey}.${apiSecret}`;

    it("accepts a key and its secret as a bearer token or as ElevenLabs' key, from any origin", async () => {
      await isLetIn({ Authorization: `Bearer ${single(website)}` });
      await isLetIn({ "xi-api-key": single(website) });
      await isLetIn({ "xi-api-key": single(website), Origin: "https://elsewhere.example" });
    });

    it("accepts an access token as ElevenLabs' key", async () => {
      await isLetIn({ "xi-api-key": await tokenFor(pair()) });
    });

    it("refuses a wrong secret, the secret of another key, and further parts", async () => {
      const token = single(website);
      const crossed = `${website.apiKey}.${other.apiSecret}`;
      for (const wrong of [
        crossed,
        `${website.apiKey}.`,
        `.${website.apiSecret}`,
        `${token}.`,
        `${token}.x`,
        ".",
      ]) {
        await isRefused({ Authorization: `Bearer ${wrong}` });
        await isRefused({ "xi-api-key": wrong });
        await isRefused({ ...key(), Origin: shop, Authorization: `Bearer ${wrong}` });
      }
      await isRefused({ "xi-api-key": [token, token] });
    });

    it("is refused in the URL", async () => {
      const refused = await get({}, `&token=${single(website)}`);
      expect(refused.status).to.equal(401);
    });
  });

  describe("by a verified origin", () => {
    it("accepts a key in its header or in the query", async () => {
      await isLetIn({ ...key(), Origin: shop });
      await isLetIn({ Origin: shop }, withKey());
      expect((await post({ ...key(), Origin: shop })).status).to.equal(200);
      expect((await post({ Origin: shop }, `?key=${website.apiKey}`)).status).to.equal(200);
    });

    it("prefers the key in the header to the key in the query", async () => {
      await isLetIn({ ...key(), Origin: shop }, `&key=${other.apiKey}`);
      await isRefused({ "X-API-Key": other.apiKey, Origin: shop }, withKey());
    });

    it("refuses a key without an origin, an origin without a key, and a repeated key", async () => {
      await isRefused({});
      await isRefused(key());
      await isRefused({}, withKey());
      await isRefused({ Origin: shop });
      await isRefused({ Origin: shop }, "&key=");
      await isRefused({ Origin: shop }, withKey() + withKey());
      await isRefused({ Origin: shop }, "&key=vlk_nobody");
    });

    for (const origin of [
      "http://shop.example",
      "https://shop.example:8443",
      "https://shop.example.evil.example",
      "https://evil-shop.example",
      "https://www.shop.example",
      "https://shop.exampl",
      "https://shop.example/",
      "https://user@shop.example",
      "shop.example",
      "https://shop.example, https://evil.example",
      "*",
      "null",
      "",
    ]) {
      it(`compares whole origins: refuses ${JSON.stringify(origin)}`, async () => {
        await isRefused({ ...key(), Origin: origin });
      });
    }

    it("refuses a repeated Origin header", async () => {
      await isRefused({ ...key(), Origin: [shop, shop] });
    });

    it("refuses the key of a website that has not verified the origin", async () => {
      await isRefused({ "X-API-Key": other.apiKey, Origin: shop });
    });

    it("uses the origin of Referer if there is no Origin", async () => {
      for (const referer of [shop, `${shop}/`, `${shop}/a/page?with=query`]) {
        await isLetIn({ Referer: referer }, withKey());
      }
      await isRefused({ Referer: "https://evil.example/https://shop.example/" }, withKey());
      await isRefused({ Referer: "https://shop.example.evil.example/" }, withKey());
      await isRefused({ Referer: "not an address" }, withKey());
      await isRefused({ Referer: "data:text/html,x" }, withKey());
    });

    it("prefers Origin to Referer, even if it is null", async () => {
      await isRefused({ Origin: "null", Referer: `${shop}/` }, withKey());
      await isRefused({ Origin: "https://evil.example", Referer: `${shop}/` }, withKey());
    });

    it("ignores Referer for methods with which browsers send Origin", async () => {
      expect((await post({ ...key(), Referer: `${shop}/` })).status).to.equal(401);
    });

    it("refuses the next request after the origin is withdrawn", async () => {
      const origin = "https://short-lived.example";
      const origins = (list: string[]) =>
        admin(service.url, "PUT", `/websites/${other.id}/origins`, { origins: list });
      const headers = { "X-API-Key": other.apiKey, Origin: origin };
      await origins([origin]);
      await isLetIn(headers);
      await origins([]);
      await isRefused(headers);
    });
  });

  describe("responds to too many wrong secrets from one address in a minute with 429", () => {
    const bearer = { Authorization: "Bearer wrong" };
    const wrongOf: Record<string, () => Promise<ReceivedResponse>> = {
      "a wrong secret": () => get({ ...key(), "X-API-Secret": "wrong" }),
      "a wrong secret in a single token": () => get({ Authorization: `Bearer ${website.apiKey}.wrong` }),
      "a wrong secret for v1": () =>
        ask(`${service.url}/v1/text:synthesize?lang=en&text=x`, {
          headers: { ...key(), "X-API-Secret": "wrong" },
        }),
      "a wrong secret for OpenAI's API": () =>
        ask(`${service.url}/openai/v1/models`, {
          headers: { Authorization: `Bearer ${website.apiKey}.wrong` },
        }),
      "a wrong secret for ElevenLabs' API": () =>
        ask(`${service.url}/elevenlabs/v1/voices`, {
          headers: { "xi-api-key": `${website.apiKey}.wrong` },
        }),
      "a wrong verification token": () =>
        ask(`${service.url}/v2/auth/verify-origin`, { method: "POST", headers: { ...bearer, Origin: shop } }),
      "a wrong admin token": () => ask(`${service.url}/admin/keys`, { headers: bearer }),
    };
    const verificationToken = async (): Promise<string> =>
      (await admin(service.url, "POST", `/websites/${website.id}/verifications`, { origin: shop })).body
        .token as string;

    for (const [form, fail] of Object.entries(wrongOf)) {
      it(`but never refuses correct credentials: ${form}`, async () => {
        const access = { Authorization: `Bearer ${await tokenFor(pair())}` };
        const statuses: number[] = [];
        for (let i = 0; i < 32; i++) statuses.push((await fail()).status);
        expect(statuses).to.deep.equal([...Array(30).fill(401), 429, 429]);
        expect((await fail()).headers).to.include({ "retry-after": "60", "x-ratelimit-limit": "30" });
        for (const headers of [pair(), access, { ...key(), Origin: shop }]) await isLetIn(headers);
        expect((await admin(service.url, "GET", "/keys")).status).to.equal(200);
        const verified = await ask(`${service.url}/v2/auth/verify-origin`, {
          method: "POST",
          headers: { Authorization: `Bearer ${await verificationToken()}`, Origin: shop },
        });
        expect(JSON.parse(verified.text)).to.deep.equal({ verified: true, origin: shop });
        service.time.now += 60_000;
        expect((await fail()).status).to.equal(401);
      });
    }

    it("but does not count requests that guess no secret", async () => {
      const token = await tokenFor(pair());
      service.time.now += 900_000;
      const harmless: Headers[] = [
        {},
        { ...key(), Origin: "https://evil.example" },
        { "X-API-Key": "vlk_nobody", Origin: shop },
        bearer,
        { Authorization: "Bearer e30.e30.e30" },
        { Authorization: `Bearer ${token}` },
        { Authorization: `Bearer ${token}x` },
      ];
      for (const headers of harmless)
        for (let i = 0; i < 31; i++) expect((await get(headers)).status).to.equal(401);
      for (let i = 0; i < 31; i++) {
        expect((await ask(`${service.url}/admin/keys`)).status).to.equal(401);
        expect((await ask(`${service.url}/v2/auth/verify-origin`, { method: "POST" })).status).to.equal(401);
      }
      expect((await get({ ...key(), "X-API-Secret": "wrong" })).status).to.equal(401);
    });

    it("together for all credentials of websites, and separately for the admin API", async () => {
      const { "a wrong admin token": failAdmin, ...ofWebsites } = wrongOf;
      for (let i = 0; i < 5; i++) for (const fail of Object.values(ofWebsites)) await fail();
      for (const fail of Object.values(ofWebsites)) expect((await fail()).status).to.equal(429);
      expect((await failAdmin?.())?.status).to.equal(401);
    });

    it("and lets a stranger who knows only a public key use up none of its limits", async () => {
      const plan = { tier: "enterprise", requestsPerMinute: 40, monthlyCharacters: 1_000_000 };
      expect((await admin(service.url, "PUT", `/keys/${other.apiKey}/plan`, plan)).status).to.equal(200);
      const strangers: Headers[] = [
        { "X-API-Key": other.apiKey },
        { "X-API-Key": other.apiKey, Origin: "https://evil.example" },
        { "X-API-Key": other.apiKey, "X-API-Secret": "wrong" },
        { Authorization: `Bearer ${other.apiKey}.wrong` },
      ];
      for (let i = 0; i < 25; i++) for (const headers of strangers) await get(headers);
      const right = await get({ "X-API-Key": other.apiKey, "X-API-Secret": other.apiSecret });
      expect(right.headers).to.include({ "x-ratelimit-limit": "40", "x-ratelimit-remaining": "39" });
    });
  });

  describe("with suspended keys", () => {
    const suspend = () => admin(service.url, "POST", `/keys/${other.apiKey}/suspend`, { reason: "unpaid" });
    const reinstate = () => admin(service.url, "POST", `/keys/${other.apiKey}/reinstate`);

    it("refuses all credentials with 403 and the reason, until the key is reinstated", async () => {
      const secret = { "X-API-Key": other.apiKey, "X-API-Secret": other.apiSecret };
      const bearer = { Authorization: `Bearer ${await tokenFor(secret)}` };
      await suspend();
      for (const headers of [secret, bearer]) {
        for (const { status, text } of [await get(headers), await post(headers)]) {
          expect(status).to.equal(403);
          expect(JSON.parse(text).error).to.include({ code: "KEY_SUSPENDED" });
          expect(text).to.include("unpaid. Only the operator can reinstate it.");
        }
      }
      await reinstate();
      for (const headers of [secret, bearer]) expect((await get(headers)).status).to.equal(200);
    });
  });
});
