import { expect } from "chai";
import { admin, type Credentials, registerWebsite } from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { ask, type ReceivedResponse, startInProcessService } from "../../support/in-process-service.ts";
import { adminToken } from "../../support/service.ts";

const shop = "https://shop.example";

describe("origin verification over HTTP", () => {
  const service = duringSuite(startInProcessService);
  let website: Credentials;

  beforeEach(async () => {
    service.time.now += 60_000; // a new minute, so that the failures of other tests do not count
    website = await registerWebsite(service.url);
  });

  const issue = (body: object = { origin: shop }) =>
    admin(service.url, "POST", `/websites/${website.id}/verifications`, body);
  const issued = async (origin = shop): Promise<string> => String((await issue({ origin })).body.token);
  const verify = (
    token: string,
    headers: Record<string, string> = { Origin: shop },
  ): Promise<ReceivedResponse> =>
    ask(`${service.url}/v2/auth/verify-origin`, {
      method: "POST",
      headers: { ...headers, Authorization: `Bearer ${token}` },
    });
  const origins = async () => (await admin(service.url, "GET", `/websites/${website.id}`)).body.origins;
  const isRefused = ({ status, headers, text }: ReceivedResponse) => {
    expect(status).to.equal(401);
    expect(headers).to.include({ "www-authenticate": "Bearer", "cache-control": "no-store" });
    expect(JSON.parse(text).error).to.deep.equal({
      message: "The verification token is missing or unknown.",
      statusCode: 401,
      code: "UNAUTHORIZED",
    });
  };
  const isNotVerified = ({ status, headers, text }: ReceivedResponse, origin = shop) => {
    expect([status, JSON.parse(text)]).to.deep.equal([200, { verified: false, origin }]);
    expect(headers["cache-control"]).to.equal("no-store");
  };

  it("issues a token for one origin, valid for 15 minutes", async () => {
    const { status, body } = await issue({ origin: "https://Shop.example:443/" });
    expect(status).to.equal(201);
    expect(body).to.have.all.keys("token", "origin", "expiresAt");
    expect(body.origin).to.equal(shop);
    expect(Date.parse(String(body.expiresAt))).to.equal(service.time.now + 15 * 60_000);
    expect(await origins()).to.deep.equal([]);
  });

  it("requires a valid origin and an existing website to issue a token", async () => {
    for (const body of [{}, { origin: "shop.example" }, { origin: "null" }, { origin: shop, more: 1 }]) {
      expect((await issue(body)).status).to.equal(400);
    }
    const nowhere = await admin(service.url, "POST", "/websites/web_none/verifications", { origin: shop });
    expect(nowhere.status).to.equal(404);
  });

  it("verifies the origin: its next request needs only the key", async () => {
    const { status, headers, text } = await verify(await issued());
    expect([status, JSON.parse(text)]).to.deep.equal([200, { verified: true, origin: shop }]);
    expect(headers["cache-control"]).to.equal("no-store");
    expect(await origins()).to.deep.equal([shop]);
    const refreshed = await ask(`${service.url}/v2/auth/refresh`, {
      method: "POST",
      headers: { "X-API-Key": website.apiKey, Origin: shop },
    });
    expect(refreshed.status).to.equal(200);
  });

  it("accepts a token once", async () => {
    const token = await issued();
    expect(JSON.parse((await verify(token)).text).verified).to.equal(true);
    isNotVerified(await verify(token));
  });

  it("accepts a token once, even if many requests present it at the same time", async () => {
    const token = await issued();
    const responses = await Promise.all(Array.from({ length: 20 }, () => verify(token)));
    const verified = responses.map(({ text }) => JSON.parse(text).verified);
    expect(verified.filter(Boolean)).to.have.length(1);
    expect(verified.filter((each) => each === false)).to.have.length(19);
  });

  it("accepts a token for 15 minutes, to the millisecond", async () => {
    const [early, late] = [await issued(), await issued()];
    service.time.now += 15 * 60_000 - 1;
    expect(JSON.parse((await verify(early)).text).verified).to.equal(true);
    service.time.now += 1;
    isNotVerified(await verify(late));
    await issued(); // so that the website still knows the expired token
    isNotVerified(await verify(late));
  });

  it("accepts a token only from its own origin; other origins do not use it up", async () => {
    const token = await issued();
    for (const headers of [
      {},
      { Origin: "https://evil.example" },
      { Origin: `${shop}.evil.example` },
      { Origin: "null" },
      { Referer: `${shop}/` },
    ] as Record<string, string>[]) {
      isNotVerified(await verify(token, headers), headers.Origin ?? "");
    }
    expect(JSON.parse((await verify(token)).text).verified).to.equal(true);
  });

  it("refuses unknown, altered, access and admin tokens", async () => {
    const token = await issued();
    const wrong = token.replace(/^vlv_./, (start) => (start.endsWith("A") ? "vlv_B" : "vlv_A"));
    const elsewhere = token.replace(/web_.*$/, (await registerWebsite(service.url)).id);
    const { text } = await ask(`${service.url}/v2/auth/refresh`, {
      method: "POST",
      headers: { "X-API-Key": website.apiKey, "X-API-Secret": website.apiSecret },
    });
    for (const other of ["", "x", wrong, elsewhere, `${token}x`, JSON.parse(text).token, website.apiSecret]) {
      isRefused(await verify(other));
    }
    expect(await origins()).to.deep.equal([]);
  });

  it("responds to too many guesses with 429 until the minute ends, and never refuses an issued token", async () => {
    const [token, used] = [await issued(), await issued()];
    await verify(used);
    const guess = token.replace(/^vlv_.{3}/, "vlv_AAA");
    for (let i = 0; i < 30; i++) isRefused(await verify(guess));
    for (const wrong of [guess, "guessed"]) expect((await verify(wrong)).status).to.equal(429);
    isNotVerified(await verify(used));
    expect(JSON.parse((await verify(token)).text).verified).to.equal(true);
    service.time.now += 60_000;
    isRefused(await verify(guess));
  });

  it("limits the number of pending verifications", async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 21; i++) statuses.push((await issue()).status);
    expect(statuses).to.deep.equal([...Array(20).fill(201), 409]);
  });

  it("records the verification without its token", async () => {
    const token = await issued();
    await verify(token);
    const response = await fetch(`${service.url}/admin/audit`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    const log = await response.text();
    expect(log).to.include("OriginVerificationIssued").and.to.include("OriginVerified");
    expect(log).to.not.include(token).and.to.not.include(token.slice(4, 47));
  });
});
