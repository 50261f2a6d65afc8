import { createHash } from "node:crypto";
import { expect } from "chai";
import { admin, authorize, type Credentials, registerWebsite } from "../../support/client.ts";
import { duringSuite, duringTest } from "../../support/during.ts";
import { ask, startInProcessService } from "../../support/in-process-service.ts";
import { adminToken } from "../../support/service.ts";

const request = { text: "Your code is 4 8 3 9.", voice: "UK English Female", format: "mp3" };
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("POST /v2/audio/name", () => {
  const service = duringSuite(startInProcessService);
  const website = duringTest(() => registerWebsite(service.url));
  const another = duringTest(() => registerWebsite(service.url));

  const post = async (path: string, body: unknown, headers: Record<string, string>) => {
    const response = await ask(`${service.url}${path}`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return { ...response, body: response.text.startsWith("{") ? JSON.parse(response.text) : undefined };
  };
  const nameFor = (caller: Credentials, given: object = request) =>
    post("/v2/audio/name", { request: given }, authorize(caller));
  const synthesize = (caller: Credentials, given: object = request) =>
    post("/v2/text/synthesize", given, authorize(caller));

  it("responds with the name under which the key was charged", async () => {
    const { headers } = await synthesize(website);
    const { status, body, headers: named } = await nameFor(website);
    expect([status, named["cache-control"]]).to.deep.equal([200, "no-store"]);
    expect(`"${body.name}"`).to.equal(headers.etag);
    expect(body.url).to.equal(`${service.url}${headers["content-location"]}`);
    expect(body).to.deep.include({
      nameDigest: sha256(body.name),
      voice: "UK English Female",
      engine: "g1",
      format: "mp3",
      characters: 21,
      reproducible: false,
    });
    const audit = await ask(`${service.url}/admin/audit?apiKey=${website.apiKey}`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    expect(audit.text).to.include(body.name);
  });

  it("responds with the same for audio that others had spoken as for audio that does not exist", async () => {
    const unspoken = await nameFor(another);
    await synthesize(website);
    const spoken = await nameFor(another);
    expect(spoken.text).to.equal(unspoken.text);
    expect(spoken.body).to.not.have.any.keys("name", "url");
    const { body } = await nameFor(website);
    expect(spoken.body.nameDigest).to.equal(sha256(body.name));
    for (const fallback of body.fallbacks) expect(fallback).to.not.have.any.keys("name", "url");
    for (const hidden of [body.name, body.url]) expect(spoken.text).to.not.include(hidden);
    const { status } = await ask(`${service.url}/audio/${spoken.body.nameDigest}.mp3`);
    expect(status).to.equal(404);
  });

  it("no longer responds with the name ten minutes after the charge", async () => {
    await synthesize(website);
    service.time.now += 10 * 60_000 + 1;
    const { body } = await nameFor(website);
    expect(body).to.have.property("nameDigest").and.not.to.have.property("name");
  });

  it("synthesizes and charges nothing, and counts as one request", async () => {
    const { headers } = await nameFor(website);
    const [limit, remaining] = ["x-ratelimit-limit", "x-ratelimit-remaining"].map((name) =>
      Number(headers[name]),
    ) as [number, number];
    expect(remaining).to.equal(limit - 1);
    const { body } = await admin(service.url, "GET", `/keys/${website.apiKey}/usage`);
    expect(body).to.include({ requests: 0, characters: 0 });
  });

  it("does not depend on members that do not change the audio", async () => {
    const { body } = await nameFor(website);
    const same = await nameFor(website, {
      ...request,
      name: "ignored",
      lang: "de-DE",
      pitch: 1,
    });
    expect(same.body.nameDigest).to.equal(body.nameDigest);
    const other = await nameFor(website, { ...request, rate: 1.5 });
    expect(other.body.nameDigest).to.not.equal(body.nameDigest);
    expect(other.body.recipe.prosody).to.include({ rate: 1.5 });
  });

  it("names audio in the formats of compatible APIs", async () => {
    const speech = { model: "g1", input: request.text, voice: request.voice, response_format: "flac" };
    const named = async () => (await nameFor(website, { ...request, format: "flac" })).body;
    expect(await named()).to.not.have.property("name");
    const spoken = await post("/openai/v1/audio/speech", speech, {
      Authorization: `Bearer ${website.apiKey}.${website.apiSecret}`,
    });
    const { url, format } = await named();
    expect([spoken.status, format]).to.deep.equal([200, "flac"]);
    expect((await ask(url)).text.slice(-400)).to.equal(spoken.text.slice(-400));
  });

  it("does not repeat the text or name the website", async () => {
    const { text } = await nameFor(website);
    expect(text).to.not.include("4 8 3 9").and.not.to.include(website.id);
  });

  it("refuses what a synthesis refuses, and silence", async () => {
    const refused = async (given: object) => {
      const { status, body } = await nameFor(website, given);
      return [status, body.error.errors?.[0].path];
    };
    expect(await refused({ voice: "UK English Female" })).to.deep.equal([400, ["text"]]);
    expect(await refused({ text: "x" })).to.deep.equal([400, ["lang"]]);
    expect(await refused({ ...request, volume: 0 })).to.deep.equal([400, ["volume"]]);
    expect((await refused({ ...request, voice: "Nobody" }))[0]).to.equal(404);
    const empty = await post("/v2/audio/name", {}, authorize(website));
    expect([empty.status, empty.body.error.errors[0].path]).to.deep.equal([400, ["request"]]);
  });

  it("refuses callers without credentials and suspended keys", async () => {
    expect((await post("/v2/audio/name", { request }, {})).status).to.equal(401);
    await admin(service.url, "POST", `/keys/${website.apiKey}/suspend`, { reason: "a test" });
    const { status, body } = await nameFor(website);
    expect([status, body.error.code]).to.deep.equal([403, "KEY_SUSPENDED"]);
  });

  it("responds with every name to an operator, for keys that are suspended too", async () => {
    const { headers } = await synthesize(website);
    await admin(service.url, "POST", `/keys/${website.apiKey}/suspend`, { reason: "a test" });
    service.time.now += 10 * 60_000 + 1;
    const { status, body } = await admin(service.url, "POST", `/keys/${website.apiKey}/audio/name`, {
      request,
    });
    expect([status, `"${body.name}"`]).to.deep.equal([200, headers.etag]);
    const unknown = await admin(service.url, "POST", "/keys/vlk_unknown/audio/name", { request });
    expect(unknown.status).to.equal(404);
  });
});

describe("With AUDIO_SHARING=none, POST /v2/audio/name", () => {
  it("responds with the website's own names, which nobody else can use", async () => {
    const service = await startInProcessService({ AUDIO_SHARING: "none" });
    try {
      const [website, another] = [await registerWebsite(service.url), await registerWebsite(service.url)];
      const nameFor = async (caller: Credentials) => {
        const response = await fetch(`${service.url}/v2/audio/name`, {
          method: "POST",
          headers: { ...authorize(caller), "Content-Type": "application/json" },
          body: JSON.stringify({ request }),
        });
        return (await response.json()) as { name: string; url?: string };
      };
      const [own, others] = [await nameFor(website), await nameFor(another)];
      expect(own.name).to.match(/^[0-9a-f]{64}$/);
      expect(own.name).to.not.equal(others.name);
      expect(own).to.not.have.property("url");
    } finally {
      await service.close();
    }
  });
});
