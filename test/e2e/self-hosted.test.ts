import { expect } from "chai";
import { bytesOf, registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { startInProcessService } from "../support/in-process-service.ts";
import { serveOpenAi } from "../support/wire/openai.ts";
import { wordAt } from "../support/word-at.ts";

const text = "It is what it is.";
const key = "hunter2hunter2";

describe("A free engine configured as a self-hosted server", () => {
  const server = duringSuite(() =>
    serveOpenAi({ apiKey: key, models: ["kokoro"], voices: ["af_bella", "bm_george"] }),
  );
  const service = duringSuite(() =>
    startInProcessService({
      ENGINE_G1: `openai:${server.url}/v1?model=kokoro&voices=af_bella,bm_george&key=${key}`,
    }),
  );
  const website = duringSuite(() => registerWebsite(service.url));

  const speak = async (query: Record<string, string>) => {
    const response = await synthesize(service.url, website, query);
    return { response, sound: await bytesOf(response) };
  };

  it("has its voices in every website's catalog", async () => {
    const response = await fetch(`${service.url}/v2/voices/af_bella`, {
      headers: { "X-API-Key": website.apiKey, "X-API-Secret": website.apiSecret },
    });
    const { voice } = (await response.json()) as { voice: object };
    expect(voice).to.deep.include({ lang: "en-US", gender: "f", flag: "us", provider: "self-hosted" });
    expect(JSON.stringify(voice)).not.to.include(key);
  });

  it("synthesizes with its voices, once per request", async () => {
    const before = server.requests.length;
    const first = await speak({ text, voice: "bm_george", rate: "1.5", pitch: "1.5" });
    expect(first.response.status).to.equal(200);
    expect(first.response.headers.get("content-type")).to.equal("audio/mpeg");
    expect(first.response.headers.get("svc-prosody-applied")).to.equal("rate");
    const again = await speak({ text, voice: "bm_george", rate: "1.5" });
    expect(again.sound.equals(first.sound)).to.equal(true);
    expect(server.requests.length - before).to.equal(1);
    expect(JSON.parse(String(server.requests.at(-1)?.body))).to.include({ voice: "bm_george", speed: 1.5 });
  });

  it("takes precedence over local voices of the same language", async () => {
    await speak({ text: "The language alone.", lang: "en-GB" });
    expect(JSON.parse(String(server.requests.at(-1)?.body))).to.include({ voice: "bm_george" });
  });

  it("falls back to the local engine while it fails, and is used again afterwards", async () => {
    server.faults.next({ kind: "refusal", status: 500 });
    const before = server.requests.length;
    const fallback = await speak({ text: "Who speaks now?", voice: "af_bella" });
    expect(fallback.response.status).to.equal(200);
    expect(fallback.sound.length).to.be.above(1000);
    const own = await speak({ text: "And who now?", voice: "af_bella" });
    expect(own.response.status).to.equal(200);
    expect(server.requests.length - before).to.equal(2);
    expect(server.requests.at(-1)).to.include({ outcome: "answered", status: 200 });
  });
});

describe("A free engine configured as a self-hosted server with captions", () => {
  it("has marks beside its audio", async () => {
    const server = await serveOpenAi({
      apiKey: key,
      models: ["kokoro"],
      voices: ["af_bella"],
      captions: true,
    });
    const service = await startInProcessService({
      ENGINE_G1: `openai:${server.url}/v1?model=kokoro&voices=af_bella&captions=true&key=${key}`,
    });
    try {
      const website = await registerWebsite(service.url);
      const response = await synthesize(service.url, website, { text, voice: "af_bella" });
      expect(response.status).to.equal(200);
      await response.arrayBuffer();
      const [, path = ""] =
        /^<([^>]+\.marks\.json)>; rel="describedby"/.exec(response.headers.get("link") ?? "") ?? [];
      const marks = (await (await fetch(service.url + path)).text()).trimEnd().split("\n");
      const words = marks.map((line) => JSON.parse(line)).filter(({ type }) => type === "word");
      expect(words.map((mark) => wordAt(text, mark))).to.deep.equal(["It", "is", "what", "it", "is"]);
    } finally {
      await service.close();
      await server.close();
    }
  });
});
