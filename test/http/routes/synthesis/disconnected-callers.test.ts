import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { journalPrefix } from "../../../../src/domain/ledger/journal/journal.ts";
import { authorize, registerWebsite } from "../../../support/client.ts";
import { duringSuite, duringTest } from "../../../support/during.ts";
import { startEventStoreDBNode } from "../../../support/eventstoredb-node/node.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";
import { adminToken } from "../../../support/service.ts";

/** The clock of an in-process service: one that differs from the event store's records nothing. */
const serviceStart = Date.parse("2026-11-05T10:00:00.000Z");
const v2 = "/v2/text/synthesize";
const elevenLabs = "/elevenlabs/v1/text-to-speech/UK_English_Female";
const text = "ten chars!";
const url = `${v2}?${new URLSearchParams({ voice: "UK English Female", text })}`;
const json = { "Content-Type": "application/json" };

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/**
 * Whole audio of `/v2` and compatible APIs. Version 1 takes the path of `GET` without the fast
 * path.
 */
const requests: Record<string, Request> = {
  "GET on the fast path": { method: "GET", path: url },
  "GET of a range": { method: "GET", path: url, headers: { Range: "bytes=0-9" } },
  "GET with an Idempotency-Key": { method: "GET", path: url, headers: { "Idempotency-Key": "a" } },
  POST: {
    method: "POST",
    path: v2,
    headers: json,
    body: JSON.stringify({ voice: "UK English Female", text }),
  },
  "POST to ElevenLabs' API": {
    method: "POST",
    path: elevenLabs,
    headers: json,
    body: JSON.stringify({ text }),
  },
  "POST to ElevenLabs' API with times": {
    method: "POST",
    path: `${elevenLabs}/with-timestamps`,
    headers: json,
    body: JSON.stringify({ text }),
  },
  "POST to OpenAI's API, of a format with its length in its header": {
    method: "POST",
    path: "/openai/v1/audio/speech",
    headers: json,
    body: JSON.stringify({ model: "tts-1", voice: "UK English Female", input: text, response_format: "wav" }),
  },
};

describe("a caller that disconnects while its request is recorded", () => {
  const node = duringSuite(() => startEventStoreDBNode({ clock: () => serviceStart }));
  const service = duringSuite(() => startInProcessService({ EVENT_STORE: node.url, BURST_LIMIT: "1000000" }));
  const other = duringSuite(() => registerWebsite(service.url));
  const website = duringTest(() => registerWebsite(service.url));

  before(async () => {
    // The audio is in memory, and its URL is prepared, after these.
    for (let n = 0; n < 2; n++) {
      expect((await ask(service.url + url, { headers: authorize(other) })).status).to.equal(200);
    }
  });

  const leave = async ({ method, path, headers = {}, body = "" }: Request): Promise<void> => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    const head = { Host: hostname, ...authorize(website), ...headers, "Content-Length": body.length };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
    while (node.faults.frozen === 0) await new Promise(setImmediate);
    socket.resetAndDestroy();
  };

  interface Entry {
    readonly type: string;
    readonly data: { readonly characters: number; readonly reason?: string };
  }
  const audit = async (): Promise<Entry[]> => {
    const { text: lines } = await ask(`${service.url}/admin/audit?apiKey=${website.apiKey}`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    const entries = lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    return entries.filter(({ type }) => type === "SynthesisServed" || type === "ServingVoided");
  };

  for (const [what, request] of Object.entries(requests)) {
    it(`is not charged: ${what}`, async () => {
      node.faults.freezeAppends(journalPrefix);
      await leave(request);
      // The service handles this request after it has noticed the reset.
      await ask(`${service.url}/health/live`);
      node.faults.thawAppends();
      let entries: Entry[] = [];
      while (!entries.some(({ type }) => type === "ServingVoided")) entries = await audit();
      expect(entries.map(({ type, data: { characters } }) => [type, characters])).to.deep.equal([
        ["SynthesisServed", text.length],
        ["ServingVoided", text.length],
      ]);
      expect(entries[1]?.data).to.include({ reason: "unanswered" });
    });
  }
});
