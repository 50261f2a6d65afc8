import { randomUUID } from "node:crypto";
import { expect } from "chai";
import {
  admin,
  authorize,
  bytesOf,
  registerWebsite,
  synthesize,
  synthesizeByPost,
} from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { startInProcessService } from "../support/in-process-service.ts";
import { openWebSocketClient, type WebSocketClient } from "../support/websocket-client.ts";
import { openAiApiKey, serveOpenAi } from "../support/wire/openai.ts";

const text = "Called by name.";
const british = { text, lang: "en-GB", engine: "g1", gender: "f" };

describe("a voice that a request names", () => {
  const provider = duringSuite(serveOpenAi);
  const service = duringSuite(() => startInProcessService({ OPENAI_URL: provider.url }));
  const website = duringSuite(() => registerWebsite(service.url));
  const other = duringSuite(() => registerWebsite(service.url));

  before(async () => {
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, { apiKey: openAiApiKey });
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

  it("is not looked up when the name is empty, as legacy clients send it", async () => {
    const expected = await etagOf(get(british));
    for (const ask of [get, legacy]) {
      expect(await etagOf(ask({ ...british, name: "" }))).to.deep.equal(expected);
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

  it("is the shared one if websites have others of that name, so that one address has the same audio for all", async () => {
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
});
