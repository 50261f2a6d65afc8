import { expect } from "chai";
import { admin, type Credentials, registerWebsite } from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { ask, type ReceivedResponse, startInProcessService } from "../../support/in-process-service.ts";

type Headers = Record<string, string>;

const shop = "https://shop.example";
const stranger = "https://stranger.example";
const speech = "/v2/text/synthesize?lang=en-GB&text=Hello.";

describe("CORS", () => {
  const service = duringSuite(() => startInProcessService({ HEADER_PREFIX: "Acme" }));
  const website = duringSuite(() => registerWebsite(service.url));

  before(async () => {
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [shop] });
  });
  beforeEach(() => {
    service.time.now += 60_000; // a new minute, so that the failures of other tests do not count
  });

  const pair = () => ({ "X-API-Key": website.apiKey, "X-API-Secret": website.apiSecret });
  const get = (path: string, headers: Headers = {}) => ask(service.url + path, { headers });
  const preflight = (path: string, origin: string, headers: Headers = {}) =>
    ask(service.url + path, {
      method: "OPTIONS",
      headers: { Origin: origin, "Access-Control-Request-Method": "POST", ...headers },
    });
  const allowed = ({ headers }: ReceivedResponse) => headers["access-control-allow-origin"];
  const list = (header: string | undefined) => (header ?? "").split(", ");

  /** The responses that are the same for every origin, from the router and from the fast path. */
  const publicResponses = async (headers: Headers): Promise<ReceivedResponse[]> => [
    await get(speech, { ...pair(), ...headers, Range: "bytes=0-9" }),
    await get(speech, { ...pair(), ...headers }),
    await get(speech, { ...pair(), ...headers, "If-None-Match": "*" }),
    await get(`${speech}&volume=0`, { ...pair(), ...headers }),
    await get("/v1/text:synthesize?lang=en-GB&text=Hello.", { ...pair(), ...headers }),
  ];

  /** The API responses that depend on the origin, from the router and from the fast path. */
  const everyResponse = async (headers: Headers): Promise<ReceivedResponse[]> => [
    await get(speech, { "X-API-Key": "vlk_nobody", ...headers }),
    await get("/v2/text/synthesize", { ...pair(), ...headers }),
    await get("/v2/voices", { ...pair(), ...headers }),
    await get("/v2/nowhere", headers),
    await ask(`${service.url}/v2/text/synthesize`, { method: "DELETE", headers }),
    await ask(`${service.url}/v2/auth/refresh`, { method: "POST", headers: { ...pair(), ...headers } }),
  ];

  it("lets a verified origin read every response, errors included", async () => {
    const [open, own] = [await publicResponses({ Origin: shop }), await everyResponse({ Origin: shop })];
    for (const response of open) expect(allowed(response), String(response.status)).to.equal("*");
    for (const response of own) expect(allowed(response), String(response.status)).to.equal(shop);
    for (const response of [...open, ...own]) {
      expect(list(response.headers["access-control-expose-headers"])).to.include.members([
        "Acme-Cached",
        "Acme-Prosody-Applied",
        "X-Acme-Auth-Renewed",
        "X-Acme-Auth-Renewed-Exp",
        "X-RateLimit-Limit",
        "X-RateLimit-Remaining",
        "Retry-After",
        "X-Request-Id",
        "ETag",
      ]);
      expect(response.headers).to.not.have.property("access-control-allow-credentials");
    }
  });

  it("lets any origin read the responses that are the same for all origins", async () => {
    for (const headers of [{}, { Origin: shop }, { Origin: stranger }, { Origin: "null" }] as Headers[]) {
      for (const response of await publicResponses(headers)) {
        expect([allowed(response), response.headers.vary], String(response.status)).to.deep.equal([
          "*",
          undefined,
        ]);
      }
    }
  });

  it("lets an unverified origin read no other response", async () => {
    for (const origin of [stranger, "null", `${shop}.evil.example`, "http://shop.example"]) {
      for (const response of await everyResponse({ Origin: origin }))
        expect(allowed(response)).to.equal(undefined);
    }
  });

  it("sets Vary: Origin on every other response, with and without an Origin in the request", async () => {
    for (const headers of [{}, { Origin: shop }, { Origin: stranger }] as Headers[]) {
      for (const { status, headers: response } of await everyResponse(headers)) {
        expect(list(response.vary), String(status)).to.include("Origin");
      }
    }
  });

  it("exposes the service's own headers", async () => {
    const commonplace = new Set([
      ...["cache-control", "content-length", "content-type", "date", "connection", "vary"],
      ...["access-control-allow-origin", "access-control-expose-headers"],
    ]);
    const responses = [
      ...(await publicResponses({ Origin: shop })),
      ...(await everyResponse({ Origin: shop })),
    ];
    for (const { status, headers } of responses) {
      const exposed = list(headers["access-control-expose-headers"]).map((name) => name.toLowerCase());
      const own = Object.keys(headers).filter((name) => !commonplace.has(name));
      expect(exposed, String(status)).to.include.members(own);
    }
  });

  it("responds to preflights without credentials", async () => {
    for (const path of [speech, "/v2/text/synthesize", "/v2/auth/refresh", "/v1/text:synthesize", "/v2/x"]) {
      const { status, headers, text } = await preflight(path, shop, {
        "Access-Control-Request-Headers": "x-api-key,content-type",
      });
      expect([status, text]).to.deep.equal([204, ""]);
      expect(headers).to.include({ "access-control-allow-origin": shop, vary: "Origin" });
      expect(list(headers["access-control-allow-methods"])).to.include.members(["GET", "POST"]);
      expect(list(headers["access-control-allow-headers"])).to.include.members([
        "Authorization",
        "Content-Type",
        "If-None-Match",
        "X-API-Key",
      ]);
      expect(Number(headers["access-control-max-age"])).to.be.above(0);
    }
  });

  it("does not allow X-API-Secret in preflights", async () => {
    const { headers } = await preflight(speech, shop);
    expect(list(headers["access-control-allow-headers"])).to.not.include("X-API-Secret");
  });

  it("allows nothing in the preflight of an unverified origin", async () => {
    const { status, headers } = await preflight(speech, stranger);
    expect(status).to.equal(204);
    expect(headers).to.include({ vary: "Origin" });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).to.deep.equal([]);
  });

  it("does not treat a plain OPTIONS request as a preflight", async () => {
    const response = await ask(service.url + speech, { method: "OPTIONS", headers: { Origin: shop } });
    expect(response.headers).to.not.have.property("access-control-allow-methods");
  });

  it("stops once the last website with the origin has withdrawn it", async () => {
    const shared = "https://shared.example";
    const websites = [await registerWebsite(service.url), await registerWebsite(service.url)];
    const set = ({ id }: Credentials, origins: string[]) =>
      admin(service.url, "PUT", `/websites/${id}/origins`, { origins });
    for (const one of websites) await set(one, [shared]);
    for (const [one, stillAllowed] of [
      [websites[0], shared],
      [websites[1], undefined],
    ] as [Credentials, string | undefined][]) {
      await set(one, []);
      expect(allowed(await preflight(speech, shared))).to.equal(stillAllowed);
      expect(allowed(await get("/v2/voices", { ...pair(), Origin: shared }))).to.equal(stillAllowed);
    }
  });

  it("lets an unverified origin call verify-origin", async () => {
    const path = "/v2/auth/verify-origin";
    const response = await preflight(path, stranger, { "Access-Control-Request-Headers": "authorization" });
    expect([response.status, allowed(response)]).to.deep.equal([204, "*"]);
    expect(list(response.headers["access-control-allow-headers"])).to.include("Authorization");
    const refused = await ask(service.url + path, { method: "POST", headers: { Origin: stranger } });
    expect([refused.status, allowed(refused), refused.headers.vary]).to.deep.equal([401, "*", "Origin"]);
  });

  it("lets any origin read the public endpoints", async () => {
    const { headers } = await get(speech, pair());
    for (const path of [String(headers["content-location"]), "/audio/none.mp3", "/health"]) {
      expect(allowed(await get(path, { Origin: stranger }))).to.equal("*");
    }
  });

  it("sets no CORS headers on admin responses", async () => {
    for (const response of [
      await get("/admin/keys", { Origin: shop }),
      await preflight("/admin/keys", shop, { "Access-Control-Request-Headers": "authorization" }),
    ]) {
      expect(allowed(response)).to.equal(undefined);
    }
  });
});
