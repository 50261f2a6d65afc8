import { expect } from "chai";
import { rejection } from "../rejection.ts";
import { azureSubscriptionKey, serveAzure } from "./azure.ts";
import { closedGate } from "./gate.ts";
import { googleApiKey, serveGoogle } from "./google.ts";
import { openAiApiKey, serveOpenAi } from "./openai.ts";
import type { WireServer } from "./wire-server.ts";

const text = "It is what it is.";
const ssml = `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="en-US"><voice name="en-US-JennyNeural"><prosody rate="+20%">${text}</prosody></voice></speak>`;

interface Upstream {
  readonly name: string;
  serve(): Promise<WireServer>;
  ask(url: string, changed?: { format?: string; key?: string }, signal?: AbortSignal): Promise<Response>;
  readAudio(response: Response): Promise<Buffer>;
  readonly formats: Readonly<Record<string, string | number[]>>;
}

const bodyOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

const upstreams: Upstream[] = [
  {
    name: "Google",
    serve: () => serveGoogle(),
    ask: (url, { format = "MP3", key = googleApiKey } = {}, signal) =>
      fetch(`${url}/v1/text:synthesize`, {
        method: "POST",
        headers: { "x-goog-api-key": key },
        body: JSON.stringify({
          input: { text },
          voice: { languageCode: "en-US", name: "en-US-Neural2-C" },
          audioConfig: { audioEncoding: format },
        }),
        signal: signal ?? null,
      }),
    readAudio: async (response) => {
      const { audioContent } = (await response.json()) as { audioContent: string };
      return Buffer.from(audioContent, "base64");
    },
    formats: { MP3: [0xff, 0xf3], OGG_OPUS: "OggS", LINEAR16: "RIFF" },
  },
  {
    name: "Azure",
    serve: () => serveAzure(),
    ask: (url, { format = "audio-24khz-48kbitrate-mono-mp3", key = azureSubscriptionKey } = {}, signal) =>
      fetch(`${url}/cognitiveservices/v1`, {
        method: "POST",
        headers: {
          "Ocp-Apim-Subscription-Key": key,
          "Content-Type": "application/ssml+xml",
          "X-Microsoft-OutputFormat": format,
          "User-Agent": "test",
        },
        body: ssml,
        signal: signal ?? null,
      }),
    readAudio: bodyOf,
    formats: {
      "audio-24khz-48kbitrate-mono-mp3": [0xff, 0xf3],
      "ogg-24khz-16bit-mono-opus": "OggS",
      "riff-24khz-16bit-mono-pcm": "RIFF",
    },
  },
  {
    name: "OpenAI",
    serve: () => serveOpenAi(),
    ask: (url, { format = "mp3", key = openAiApiKey } = {}, signal) =>
      fetch(`${url}/v1/audio/speech`, {
        method: "POST",
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        body: JSON.stringify({
          model: "gpt-4o-mini-tts",
          input: text,
          voice: "alloy",
          response_format: format,
        }),
        signal: signal ?? null,
      }),
    readAudio: bodyOf,
    formats: { mp3: [0xff, 0xf3], opus: "OggS", wav: "RIFF", flac: "fLaC" },
  },
];

for (const { name, serve, ask, readAudio, formats } of upstreams) {
  describe(`The ${name} wire server`, () => {
    let wire: WireServer;
    beforeEach(async () => {
      wire = await serve();
    });
    afterEach(() => wire.close());

    for (const [format, magic] of Object.entries(formats)) {
      it(`returns ${format}, the same bytes each time`, async () => {
        const sound = await readAudio(await ask(wire.url, { format }));
        expect(sound.length).to.be.above(2000);
        expect(sound.subarray(0, magic.length)).to.deep.equal(Buffer.from(magic as string));
        expect((await readAudio(await ask(wire.url, { format }))).equals(sound)).to.equal(true);
      });
    }

    it("rejects a wrong key", async () => {
      expect((await ask(wire.url, { key: "nobody" })).status).to.be.oneOf([400, 401]);
    });

    it("refuses the planned number of requests as planned", async () => {
      wire.faults.next({ kind: "refusal", status: 429, retryAfter: "7" }, { kind: "refusal", status: 503 });
      const responses = [await ask(wire.url), await ask(wire.url), await ask(wire.url)];
      expect(responses.map(({ status }) => status)).to.deep.equal([429, 503, 200]);
      expect(responses[0]?.headers.get("retry-after")).to.equal("7");
    });

    it("returns an empty body, an HTML page or malformed data as planned", async () => {
      wire.faults.next({ kind: "empty" }, { kind: "html" }, { kind: "malformed" });
      const whole = (await readAudio(await ask(wire.url)).catch(() => Buffer.alloc(0))).length;
      expect(whole).to.equal(0);
      expect(await (await ask(wire.url)).text()).to.match(/^<!doctype html>/);
      expect((await ask(wire.url)).status).to.equal(200);
    });

    it("cuts the connection before the response and in its middle as planned", async () => {
      wire.faults.next({ kind: "cut before the answer" }, { kind: "cut" });
      await rejection(ask(wire.url));
      await rejection((await ask(wire.url)).arrayBuffer());
      expect(wire.requests.map(({ outcome }) => outcome)).to.deep.equal(["cut", "cut"]);
      expect(wire.requests[1]?.bytesSent).to.be.above(0);
    });

    it("holds the response, or each of its chunks, until a gate opens", async () => {
      const slow = closedGate();
      const trickle = closedGate();
      wire.faults.next({ kind: "slow", gate: slow }, { kind: "trickle", gate: trickle });
      const first = ask(wire.url);
      await slow.reached();
      slow.open();
      await (await first).arrayBuffer();
      const reader = (await ask(wire.url)).body?.getReader();
      await trickle.reached();
      trickle.step();
      expect((await reader?.read())?.value?.length).to.equal(4096);
      expect(wire.requests[1]).to.include({ bytesSent: 4096, outcome: "active" });
    });

    it("records a client that left before the response", async () => {
      wire.faults.next({ kind: "hang" });
      const leaving = new AbortController();
      const response = ask(wire.url, {}, leaving.signal);
      await wire.seen(1);
      expect(wire.activeRequests()).to.equal(1);
      leaving.abort();
      await rejection(response);
      await wire.idle();
      expect(wire.requests[0]?.outcome).to.equal("left");
    });
  });
}
