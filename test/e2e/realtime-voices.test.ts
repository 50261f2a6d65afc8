import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { admin, authorize, type Credentials, registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { ask, type ReceivedResponse, startInProcessService } from "../support/in-process-service.ts";
import { adminToken } from "../support/service.ts";
import { openWebSocketClient } from "../support/websocket-client.ts";
import { openAiApiKey } from "../support/wire/openai.ts";
import { serveRealtime } from "../support/wire/realtime.ts";

const path = "/v2/text/synthesize";
const contracts = { kind: "reword", transcript: (text: string) => text.replace("I am", "I'm") } as const;

describe("A website's voice of a realtime model", () => {
  const provider = duringSuite(serveRealtime);
  const service = duringSuite(() => startInProcessService({ OPENAI_URL: provider.url }));
  let website: Credentials;
  let number = 0;

  beforeEach(async () => {
    provider.always(contracts);
    website = await registerWebsite(service.url);
    const given = { apiKey: openAiApiKey, model: "gpt-realtime-2.1-mini" };
    const set = await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, given);
    expect(set.status).to.equal(200);
  });

  const unused = (): string => `I am number ${++number} of all that are read aloud.`;
  const speak = (body: object, headers = {}): Promise<ReceivedResponse> =>
    ask(service.url + path, {
      method: "POST",
      headers: { ...authorize(website), "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ voice: "marin", ...body }),
    });
  const charged = async (): Promise<number> => {
    const headers = { Authorization: `Bearer ${adminToken}` };
    const { text } = await ask(`${service.url}/admin/audit?apiKey=${website.apiKey}`, { headers });
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .reduce(
        (sum, { type, data }) =>
          sum +
          (type === "SynthesisServed" ? data.characters : type === "ServingVoided" ? -data.characters : 0),
        0,
      );
  };

  for (const format of ["mp3", "ogg", "wav"]) {
    it(`is heard, charged once and kept: ${format}`, async () => {
      provider.always({ kind: "noise" });
      const text = unused();
      const before = provider.sessions.length;
      expect((await speak({ text, format })).status).to.equal(200);
      const again = await speak({ text, format });
      expect([again.status, again.headers["svc-cached"]]).to.deep.equal([200, "memory"]);
      expect(provider.sessions.length - before).to.equal(1);
      expect(await charged()).to.equal(2 * text.length);
    });
  }

  it("is refused with 502, charged and not kept if its words differ", async () => {
    const text = unused();
    const before = provider.sessions.length;
    for (const times of [1, 2]) {
      const { status, text: body } = await speak({ text });
      expect(status).to.equal(502);
      expect(JSON.parse(body).error.message).to.match(/spoke other words than those of the text\.$/);
      expect(provider.sessions.length - before).to.equal(times);
      expect(await charged()).to.equal(times * text.length);
      const usage = await ask(`${service.url}/v2/usage`, { headers: authorize(website) });
      expect(JSON.parse(usage.text)).to.include({ requests: times, used: times * text.length });
    }
    provider.always({ kind: "noise" });
    expect((await speak({ text })).headers["svc-cached"]).to.equal("miss");
  });

  it("is charged for each attempt with one Idempotency-Key whose words differ, and once for the one that succeeds", async () => {
    const text = unused();
    const key = { "Idempotency-Key": `key-${number}` };
    expect((await speak({ text }, key)).status).to.equal(502);
    expect((await speak({ text }, key)).status).to.equal(502);
    expect(await charged()).to.equal(2 * text.length);
    provider.always({ kind: "noise" });
    expect((await speak({ text }, key)).status).to.equal(200);
    expect((await speak({ text }, key)).status).to.equal(200);
    expect(await charged()).to.equal(3 * text.length);
  });

  it("ends a stream with a retryable error, and is charged, if its words differ", async () => {
    const text = unused();
    const { status, text: body } = await speak(
      { text, stream: true, format: "wav" },
      { Accept: "text/event-stream" },
    );
    // On a busy machine the words may be known to differ before the first byte.
    expect(status).to.be.oneOf([200, 502]);
    if (status === 200) {
      const chunks = body.matchAll(/^data: (.*)$/gm).map(([, data = ""]) => JSON.parse(data));
      const [first, ...others] = chunks.toArray();
      expect(first.type).to.equal("metadata");
      expect(others.at(-1)).to.include({ type: "error", retryable: true });
    }
    expect(await charged()).to.equal(text.length);
    const sessions = provider.sessions.length;
    await speak({ text });
    expect(provider.sessions.length).to.equal(sessions + 1);
  });

  it("ends a stream over a WebSocket with a retryable error, and is charged, if its words differ", async () => {
    const text = unused();
    const url = `${service.url.replace("http", "ws")}/v2/text/stream`;
    const client = await openWebSocketClient(url, { headers: authorize(website) });
    client.send({ type: "synthesize", id: randomUUID(), request: { voice: "marin", text } });
    // On a busy machine the words may be known to differ before the first byte.
    let message = await client.next();
    while (message.type === "stream_start" || message.type === "frame") message = await client.next();
    expect(message).to.include({ type: "error", retryable: true });
    await client.close();
    expect(await charged()).to.equal(text.length);
  });

  for (const [path, bodyOf] of [
    ["/openai/v1/audio/speech", (input: string) => ({ model: "oai", voice: "marin", input })],
    ["/elevenlabs/v1/text-to-speech/marin", (text: string) => ({ text })],
    ["/elevenlabs/v1/text-to-speech/marin/stream", (text: string) => ({ text })],
  ] as const) {
    it(`is never completed audio, and is charged, if its words differ: ${path}`, async () => {
      const text = unused();
      const response = await fetch(service.url + path, {
        method: "POST",
        headers: { ...authorize(website), "Content-Type": "application/json" },
        body: JSON.stringify(bodyOf(text)),
      });
      const ended = await response.arrayBuffer().then(
        () => "completed",
        () => "broken",
      );
      expect(`${response.status} ${ended}`).to.be.oneOf(["502 completed", "200 broken"]);
      expect(await charged()).to.equal(text.length);
    });
  }

  it("does not open the circuit breaker by words that differ", async () => {
    for (let times = 0; times < 7; times++) expect((await speak({ text: unused() })).status).to.equal(502);
    provider.always({ kind: "noise" });
    expect((await speak({ text: unused() })).status).to.equal(200);
  });

  it("is not charged if the provider fails", async () => {
    provider.always({ kind: "error", error: { type: "server_error", message: "Broken." } });
    expect((await speak({ text: unused() })).status).to.equal(502);
    provider.always({ kind: "noise" });
    const text = unused();
    await speak({ text });
    expect(await charged()).to.equal(text.length);
  });
});
