import { expect } from "chai";
import { admin, authorize, bytesOf, errorOf, registerWebsite, synthesize } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { startInProcessService } from "../../../support/in-process-service.ts";

const hello = { lang: "en-GB", text: "Hello from the old days." };

describe("GET /v1/text:synthesize", () => {
  const service = duringSuite(() => startInProcessService({ PUBLIC_URL: "https://speech.example/tts" }));
  const website = duringSuite(() => registerWebsite(service.url));

  const get = (query: Record<string, string>, init: RequestInit = {}, address = "/v1/text:synthesize") =>
    fetch(`${service.url}${address}?${new URLSearchParams(query)}`, {
      ...init,
      headers: { ...authorize(website), ...(init.headers as Record<string, string>) },
    });

  const deprecated = (response: Response): void => {
    const headers = Object.fromEntries(response.headers);
    expect(headers.deprecation).to.match(/^@\d{10}$/);
    expect(Date.parse(headers.sunset ?? "")).to.be.above(Number(headers.deprecation?.slice(1)) * 1_000);
    expect(new Date(headers.sunset ?? "").toUTCString()).to.equal(headers.sunset);
    const [successor] = headers.link?.split(", ") ?? [];
    expect(successor).to.equal('<https://speech.example/tts/v2/text/synthesize>; rel="successor-version"');
  };

  it("returns the audio of the v2 request, with deprecation headers", async () => {
    const [old, now] = [await get(hello), await synthesize(service.url, website, hello)];
    expect([old.status, now.status]).to.deep.equal([200, 200]);
    deprecated(old);
    for (const name of ["etag", "content-location", "content-type", "cache-control", "svc-prosody-applied"]) {
      expect(old.headers.get(name), name).to.equal(now.headers.get(name));
    }
    expect(old.headers.get("x-ratelimit-limit")).to.equal("1000000");
    expect((await bytesOf(old)).equals(await bytesOf(now))).to.equal(true);
  });

  it("accepts pitch and rate from 0 to 1, where 0.5 is 1 in v2", async () => {
    const tagOf = async (response: Promise<Response>) => (await response).headers.get("etag");
    for (const [v1, v2] of [
      ["0.5", "1"],
      ["0.55", "1.1"],
      ["0", "0"],
      ["1", "2"],
    ] as const) {
      const old = await tagOf(get({ ...hello, pitch: v1, rate: v1 }));
      expect(old, v1).to.equal(
        await tagOf(synthesize(service.url, website, { ...hello, pitch: v2, rate: v2 })),
      );
    }
    expect(await tagOf(get({ ...hello, pitch: "null", rate: "" }))).to.equal(await tagOf(get(hello)));
  });

  it("accepts the engine, the name and the gender of a voice", async () => {
    for (const query of [
      { ...hello, engine: "g2" },
      { ...hello, gender: "male" },
    ]) {
      const old = await get(query);
      const now = await synthesize(service.url, website, query);
      expect(old.headers.get("etag")).to.equal(now.headers.get("etag"));
    }
    expect((await get({ ...hello, engine: "g1", name: "Nobody" })).status).to.equal(404);
  });

  it("has no voice and no format: lang is required, and the engine determines the format", async () => {
    const response = await get({ text: "x", voice: "UK English Female" });
    expect(response.status).to.equal(400);
    deprecated(response);
    expect((await errorOf(response)).errors?.map(({ path }) => path)).to.deep.equal([["lang"]]);
    expect((await get({ ...hello, format: "wav" })).headers.get("content-type")).to.equal("audio/mpeg");
  });

  it("accepts a colon that is percent-encoded", async () => {
    const response = await get({ ...hello, volume: "0" }, {}, "/v1/text%3Asynthesize");
    expect(response.status).to.equal(204);
    deprecated(response);
  });

  it("handles conditional requests, ranges, HEAD and silence like v2", async () => {
    const whole = await get(hello);
    const etag = whole.headers.get("etag") ?? "";
    const { length } = await bytesOf(whole);
    const fresh = await get(hello, { headers: { "If-None-Match": etag } });
    const part = await get(hello, { headers: { Range: "bytes=0-9" } });
    const beyond = await get(hello, { headers: { Range: `bytes=${length}-` } });
    const head = await get(hello, { method: "HEAD" });
    const silent = await get({ ...hello, volume: "0" });
    const responses = [fresh, part, beyond, head, silent];
    expect(responses.map(({ status }) => status)).to.deep.equal([304, 206, 416, 200, 204]);
    responses.forEach(deprecated);
    expect(head.headers.get("content-length")).to.equal(String(length));
    expect(silent.headers.get("svc-prosody-applied")).to.equal("volume");
  });

  for (const [why, query, path] of [
    ["a pitch over 1", { ...hello, pitch: "1.1" }, "pitch"],
    ["a rate that is no number", { ...hello, rate: "fast" }, "rate"],
    ["a volume over 1", { ...hello, volume: "2" }, "volume"],
    ["no text", { lang: "en-GB" }, "text"],
    ["an unknown engine", { ...hello, engine: "g9" }, "engine"],
  ] as const) {
    it(`refuses ${why} with 400 and its path`, async () => {
      const response = await get(query);
      expect(response.status).to.equal(400);
      deprecated(response);
      const error = await errorOf(response);
      expect(error.code).to.equal("VALIDATION_ERROR");
      expect(error.errors?.map((problem) => problem.path.join("."))).to.include(path);
    });
  }

  it("sends deprecation headers with 401, 403, 405 and 429", async () => {
    const unknown = await get(hello, { headers: { "X-API-Secret": "wrong" } });
    expect(unknown.status).to.equal(401);
    deprecated(unknown);
    const post = await get(hello, { method: "POST" });
    expect(post.status).to.equal(405);
    expect(post.headers.get("allow")).to.include("GET").and.to.not.include("POST");
    deprecated(post);
    const other = await registerWebsite(service.url, { requestsPerMinute: 1 });
    const asOther = { headers: authorize(other) };
    await admin(service.url, "POST", `/keys/${other.apiKey}/suspend`, { reason: "abuse" });
    const suspended = await get(hello, asOther);
    expect((await errorOf(suspended)).code).to.equal("KEY_SUSPENDED");
    deprecated(suspended);
    const tooMany = await get(hello, asOther);
    expect(tooMany.status).to.equal(429);
    expect(Number(tooMany.headers.get("retry-after"))).to.be.within(1, 60);
    deprecated(tooMany);
  });

  it("counts its characters against the same quota", async () => {
    const own = await registerWebsite(service.url);
    await get({ ...hello, text: "ten chars!" }, { headers: authorize(own) });
    await synthesize(service.url, own, { ...hello, text: "five!" });
    const { body } = await admin(service.url, "GET", `/keys/${own.apiKey}/usage`);
    expect(body).to.include({ characters: 15 });
  });
});
