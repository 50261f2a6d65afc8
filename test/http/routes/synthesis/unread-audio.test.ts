import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { admin, authorize, type Credentials, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import {
  ask,
  type InProcessService,
  type ReceivedResponse,
  startInProcessService,
} from "../../../support/in-process-service.ts";
import { openWebSocketClient } from "../../../support/websocket-client.ts";
import { serveLongSounds } from "../../../support/wire/long-sound.ts";

/** More than the buffers of a connection take. */
const longText = "A text of 16 MB.";
const voice = "alloy";
const maxBytes = 4 * 1024 * 1024;

/** Requests of one text over each API, whole or as a stream. */
const requests = {
  "/v2": { path: "/v2/text/synthesize", body: (text: string) => ({ voice, text }) },
  "/v2 as a stream": {
    path: "/v2/text/synthesize",
    body: (text: string) => ({ voice, text, stream: true }),
    accept: "text/event-stream",
  },
  "OpenAI's API": {
    path: "/openai/v1/audio/speech",
    body: (input: string) => ({ model: "tts-1", voice, input }),
  },
  "ElevenLabs' API": { path: `/elevenlabs/v1/text-to-speech/${voice}`, body: (text: string) => ({ text }) },
  "ElevenLabs' API as a stream": {
    path: `/elevenlabs/v1/text-to-speech/${voice}/stream`,
    body: (text: string) => ({ text }),
  },
  "ElevenLabs' API with times": {
    path: `/elevenlabs/v1/text-to-speech/${voice}/with-timestamps`,
    body: (text: string) => ({ text }),
  },
} as const;
type Api = keyof typeof requests;
const apis = Object.keys(requests) as Api[];

describe("clients that do not read their audio", () => {
  const upstream = duringSuite(serveLongSounds);
  let service: InProcessService;
  let website: Credentials;
  const open: Socket[] = [];

  const start = async (env: Record<string, string>): Promise<void> => {
    service = await startInProcessService({ OPENAI_URL: upstream.url, BURST_LIMIT: "1000000", ...env });
  };
  const registerBoth = async (): Promise<Credentials> => {
    const registered = await registerWebsite(service.url);
    const credentials = { apiKey: "sk-test", voices: [voice] };
    await admin(service.url, "PUT", `/websites/${registered.id}/credentials/oai`, credentials);
    return registered;
  };
  beforeEach(async () => {
    website = await registerBoth();
  });
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });

  const headersOf = (api: Api, caller: Credentials): Record<string, string> => {
    const { accept } = { accept: "*/*", ...requests[api] };
    return { ...authorize(caller), "Content-Type": "application/json", Accept: accept };
  };
  const post = (api: Api, text: string, caller = website): Promise<ReceivedResponse> => {
    const { path, body } = requests[api];
    const headers = headersOf(api, caller);
    return ask(service.url + path, { method: "POST", headers, body: JSON.stringify(body(text)) });
  };

  /** Sends the request, and reads nothing after the first bytes of the response. */
  const stall = async (api: Api, text = longText): Promise<Socket> => {
    const { path, body } = requests[api];
    const content = JSON.stringify(body(text));
    const { hostname, port } = new URL(service.url);
    const headers = { Host: hostname, ...headersOf(api, website), "Content-Length": content.length };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(Number(port), hostname);
    open.push(socket);
    socket.on("error", () => undefined);
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${content}`);
    const [first] = await once(socket, "data");
    socket.pause();
    expect(String(first)).to.match(/^HTTP\/1.1 200 /);
    return socket;
  };

  /**
   * Resolves when the request is accepted: the service learns of a closed connection a little
   * later.
   */
  const untilAccepted = async (api: Api): Promise<void> => {
    while ((await post(api, "Short.")).status === 429);
  };

  /**
   * Resolves with the refusal of the request: the unread audio grows for a while after its first
   * bytes were sent.
   */
  const untilRefused = async (request: () => Promise<ReceivedResponse>): Promise<ReceivedResponse> => {
    for (;;) {
      const response = await request();
      if (response.status === 200) continue;
      const { error } = JSON.parse(response.text);
      expect(error).to.include({ code: "TOO_MUCH_UNREAD_AUDIO", statusCode: 429 });
      return response;
    }
  };

  describe("whose bytes are limited", () => {
    before(() => start({ UNREAD_AUDIO_BYTES: String(maxBytes) }));
    after(() => service.close());

    for (const api of apis) {
      it(`hold no more than the maximum of bytes over ${api}`, async () => {
        const socket = await stall(api);
        const refused = await untilRefused(() => post("/v2", "Short."));
        expect(refused.status).to.equal(429);
        expect(refused.headers["retry-after"]).to.equal("5");
        expect((await post("/v2", "Short.", await registerBoth())).status).to.equal(200);
        socket.destroy();
        await untilAccepted("/v2");
      });
    }

    it("are refused in the form of each API, also for audio in memory", async () => {
      const url = `${service.url}/v2/text/synthesize?${new URLSearchParams({ voice: "UK English Female", text: "Hello." })}`;
      let served = 0;
      const get = async (): Promise<ReceivedResponse> => {
        const response = await ask(url, { headers: authorize(website) });
        if (response.status === 200) served += 1;
        return response;
      };
      for (const _ of [1, 2]) expect((await get()).status).to.equal(200);
      await stall("OpenAI's API");
      await untilRefused(get);
      const openAi = await post("OpenAI's API", "Short.");
      expect(openAi).to.include({ status: 429 });
      expect(openAi.headers).to.include({ "retry-after": "5", "x-should-retry": "true" });
      expect(JSON.parse(openAi.text).error).to.include({ type: "requests", code: "rate_limit_exceeded" });
      for (const api of apis.filter((api) => requests[api].path.startsWith("/elevenlabs"))) {
        const { status, text } = await post(api, "Short.");
        expect(status).to.equal(429);
        expect(JSON.parse(text).detail).to.include({ status: "too_much_unread_audio" });
      }
      const client = await openWebSocketClient(`${service.url.replace("http", "ws")}/v2/text/stream`, {
        headers: authorize(website),
      });
      client.send({
        type: "synthesize",
        id: "6f7f0e0d-2f35-4e0a-9a2f-6f1c6c1f6f11",
        request: { voice, text: "Short." },
      });
      expect(await client.expect("error")).to.include({ code: "TOO_MUCH_UNREAD_AUDIO", retryable: true });
      client.webSocket.terminate();
      const charged = (await admin(service.url, "GET", `/keys/${website.apiKey}/usage`)).body.requests;
      expect(charged, "with the stalled request").to.equal(served + 1);
    });
  });

  describe("whose streams are limited", () => {
    before(() => start({ STREAMS_PER_KEY: "2" }));
    after(() => service.close());

    it("open no more than the maximum of streams", async () => {
      const [first] = [await stall("/v2 as a stream"), await stall("OpenAI's API")];
      const { status, text } = await post("ElevenLabs' API as a stream", "Short.");
      expect(status).to.equal(429);
      expect(JSON.parse(text).detail.status).to.equal("too_many_streams");
      expect((await post("/v2", "Short.")).status).to.equal(200);
      first.destroy();
      await untilAccepted("ElevenLabs' API as a stream");
    });
  });
});
