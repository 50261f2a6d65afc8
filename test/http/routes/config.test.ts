import { expect } from "chai";
import { ConfigResponse } from "../../../src/http/routes/access.ts";
import { admin, authorize, registerWebsite } from "../../support/client.ts";
import { duringSuite, duringTest } from "../../support/during.ts";
import { ask, startInProcessService } from "../../support/in-process-service.ts";

describe("GET /v2/config", () => {
  const service = duringSuite(startInProcessService);
  const website = duringTest(() => registerWebsite(service.url));

  const get = (headers: Record<string, string> = authorize(website), method = "GET") =>
    ask(`${service.url}/v2/config`, { method, headers });
  const configure = async (config: object) => {
    const { status } = await admin(service.url, "PUT", `/websites/${website.id}/config`, config);
    expect(status).to.equal(200);
  };

  it("returns every member, with defaults for those that are not stored", async () => {
    const { status, headers, text } = await get();
    const { auth, ...config } = JSON.parse(text);
    expect([status, headers["x-ratelimit-limit"]]).to.deep.equal([200, "1000000"]);
    expect(ConfigResponse.parse({ ...config, auth })).to.deep.equal({ ...config, auth });
    expect(config.voice).to.deep.equal({ name: "UK English Female", pitch: 1, rate: 1, volume: 1 });
    expect(config.analytics).to.deep.equal({ enabled: false });
    expect(config.features.webPlayer.paragraphSelector).to.equal("p, h2, h3, li");
    expect(config.sdkVersion).to.equal("v1");
  });

  it("returns stored members from the next request on", async () => {
    await configure({ voice: { pitch: 1.5 }, features: { webPlayer: { enabled: true } } });
    const config = JSON.parse((await get()).text);
    expect(config.voice).to.deep.equal({ name: "UK English Female", pitch: 1.5, rate: 1, volume: 1 });
    expect(config.features.webPlayer).to.include({ enabled: true, selector: "article" });
    expect(config.features.welcomeMessage).to.deep.equal({ enabled: false, text: null });
  });

  it("returns a token that authenticates later requests", async () => {
    const { auth } = JSON.parse((await get()).text);
    expect(auth.exp).to.equal(service.time.now / 1_000 + 900);
    const headers = { Authorization: `Bearer ${auth.token}` };
    expect((await ask(`${service.url}/v2/voices`, { headers })).status).to.equal(200);
    expect((await get(headers)).status).to.equal(200);
  });

  it("is not cached and has no entity tag, because it contains a token", async () => {
    for (const conditions of [{}, { "If-None-Match": "*" }] as Record<string, string>[]) {
      const { status, headers, text } = await get({ ...authorize(website), ...conditions });
      expect([status, headers["cache-control"], headers.etag]).to.deep.equal([200, "no-store", undefined]);
      expect(JSON.parse(text).auth).to.have.keys("token", "exp");
    }
  });

  it("sends no body to HEAD", async () => {
    const { status, headers, text } = await get(authorize(website), "HEAD");
    expect([status, headers["cache-control"], text]).to.deep.equal([200, "no-store", ""]);
  });

  it("is readable with a suspended key", async () => {
    await admin(service.url, "POST", `/keys/${website.apiKey}/suspend`, { reason: "unpaid" });
    expect((await get()).status).to.equal(200);
    const { status } = await ask(`${service.url}/v2/voices`, { headers: authorize(website) });
    expect(status).to.equal(403);
  });

  it("is refused without credentials and over the rate limit", async () => {
    const { status, headers, text } = await get({});
    expect([status, JSON.parse(text).error.code]).to.deep.equal([401, "UNAUTHORIZED"]);
    expect(headers).to.include({ "www-authenticate": "Bearer", "cache-control": "no-store" });
    const limited = await registerWebsite(service.url, { requestsPerMinute: 1 });
    expect((await get(authorize(limited))).status).to.equal(200);
    const refused = await get(authorize(limited));
    expect([refused.status, refused.headers["x-ratelimit-remaining"]]).to.deep.equal([429, "0"]);
  });

  it("differs between websites", async () => {
    const other = await registerWebsite(service.url);
    await configure({ voice: { name: "German Male" } });
    expect(JSON.parse((await get()).text).voice.name).to.equal("German Male");
    expect(JSON.parse((await get(authorize(other))).text).voice.name).to.equal("UK English Female");
  });
});
