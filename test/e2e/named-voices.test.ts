import { randomUUID } from "node:crypto";
import { expect } from "chai";
import {
  admin,
  authorize,
  bytesOf,
  type Credentials,
  registerWebsite,
  synthesize,
  synthesizeByPost,
} from "../support/client.ts";
import { type InProcessService, startInProcessService } from "../support/in-process-service.ts";
import { openWebSocketClient, type WebSocketClient } from "../support/websocket-client.ts";
import { openAiApiKey, serveOpenAi } from "../support/wire/openai.ts";
import type { WireServer } from "../support/wire/wire-server.ts";

const text = "Called by name.";
const british = { text, lang: "en-GB", engine: "g1", gender: "f" };

describe("a voice that a request names", () => {
  let provider: WireServer;
  let service: InProcessService;
  let website: Credentials;
  let other: Credentials;

  before(async () => {
    provider = await serveOpenAi();
    service = await startInProcessService({ OPENAI_URL: provider.url });
    website = await registerWebsite(service.url);
    other = await registerWebsite(service.url);
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, { apiKey: openAiApiKey });
  });
  after(async () => {
    await service.close();
    await provider.close();
  });

  const get = (query: Record<string, string>) => synthesize(service.url, website, query);
  const legacy = (query: Record<string, string>) =>
    fetch(`${service.url}/v1/text:synthesize?${new URLSearchParams(query)}`, { headers: authorize(website) });
  const etagOf = async (response: Response | Promise<Response>) => {
    const { status, headers } = await response;
    return [status, headers.get("etag")];
  };

  it("is found by its voiceName and its friendly name, by GET, POST and v1 alike", async () => {
    const expected = await etagOf(get({ text, voice: "UK English Female" }));
    expect(expected[0]).to.equal(200);
    for (const name of ["g1-en-GB-female", "espeak:gmw/en+f3", "UK English Female", "uk english female"]) {
      const request = { ...british, name };
      expect(await etagOf(get(request)), `GET ${name}`).to.deep.equal(expected);
      expect(await etagOf(synthesizeByPost(service.url, website, request)), `POST ${name}`).to.deep.equal(
        expected,
      );
      expect(await etagOf(legacy(request)), `v1 ${name}`).to.deep.equal(expected);
    }
  });

  it("is none when the name is empty, as legacy clients send it", async () => {
    const expected = await etagOf(get(british));
    for (const ask of [get, legacy]) {
      expect(await etagOf(ask({ ...british, name: "" }))).to.deep.equal(expected);
    }
  });

  it("is not found on an engine that does not speak it, nor where only browsers do", async () => {
    for (const [engine, name] of [
      ["g2", "espeak:gmw/en+f3"],
      ["g1", "alloy"],
      ["g1", "Google UK English Female"],
    ] as const) {
      for (const ask of [get, legacy])
        expect((await ask({ ...british, engine, name })).status, name).to.equal(404);
    }
  });

  it("is found over the WebSocket, ignoring case", async () => {
    const client: WebSocketClient = await openWebSocketClient(
      `${service.url.replace("http", "ws")}/v2/text/stream`,
      {
        headers: authorize(website),
      },
    );
    try {
      for (const name of ["alloy", "ALLOY"]) {
        const id = randomUUID();
        client.send({ type: "synthesize", id, request: { text, lang: "en-US", engine: "oai", name } });
        expect(await client.expect("stream_start")).to.include({ id });
        let message = await client.next();
        while (message.type === "frame") message = await client.next();
        expect(message.type).to.equal("stream_end");
      }
    } finally {
      await client.close();
    }
  });

  it("that several websites may have means the shared one, so that one address means one sound", async () => {
    await admin(service.url, "POST", "/voices", {
      ...{ name: "Coral", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [10] },
    });
    const shared = { text: "One address, one sound.", lang: "en-GB", name: "coral" };
    const others = await synthesize(service.url, other, shared);
    const own = await get(shared);
    expect(await etagOf(own)).to.deep.equal(await etagOf(others));
    expect((await bytesOf(own)).equals(await bytesOf(others))).to.equal(true);
    expect((await get({ ...shared, engine: "oai" })).headers.get("etag")).to.not.equal(
      own.headers.get("etag"),
    );
  });

  for (const [name, lang] of [
    ["Deutsch Male", "de-DE"],
    ["Australian Female", "en-AU"],
    ["French Canadian Male", "fr-CA"],
    ["Spanish Latin American Female", "es-419"],
    ["Chinese (Hong Kong) Male", "zh-HK"],
    ["Chinese Taiwan Female", "zh-TW"],
    ["Sinhala", "si-LK"],
  ] as const) {
    it(`speaks as ${name}: as voice, as name, and shown under /v2/voices`, async () => {
      const byVoice = await etagOf(get({ text: "1 2 3", voice: name }));
      expect(byVoice[0]).to.equal(200);
      expect(await etagOf(get({ text: "1 2 3", lang, name }))).to.deep.equal(byVoice);
      const shown = await fetch(`${service.url}/v2/voices/${encodeURIComponent(name)}`, {
        headers: authorize(website),
      });
      const { voice } = (await shown.json()) as { voice: object };
      expect(voice).to.include({
        name,
        lang,
        gender: name.endsWith(" Male") ? "m" : "f",
      });
    });
  }
});
