import { expect } from "chai";
import { authorize, type Credentials, errorOf, registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { startInstance } from "../support/instance.ts";
import { type RunningService, temporaryFolder } from "../support/service.ts";
import { openRawClient } from "../wyoming/raw-client.ts";

/**
 * Its first voice is flite's, which has only Latin letters and no emoji. The next one is
 * espeak-ng's.
 */
const voice = "US English Female";

const texts: Readonly<Record<string, { readonly text: string; readonly named: string }>> = {
  Khmer: { text: "សួស្តី", named: "ស (U+179F)" },
  Lao: { text: "ສະບາຍດີ", named: "ສ (U+0EAA)" },
  Tibetan: { text: "བཀྲ་ཤིས", named: "བ (U+0F56)" },
  emoji: { text: "🙂🎉", named: "🙂 (U+1F642)" },
};

describe("a text that the first voice cannot pronounce", () => {
  const folder = duringSuite(temporaryFolder);
  let service: RunningService;
  let website: Credentials;
  before(async () => {
    const first = await startInstance(folder.path);
    website = await registerWebsite(first.url);
    await first.stop();
    service = await startInstance(folder.path, {
      WYOMING_PORT: "0",
      WYOMING_KEY: `${website.apiKey}.${website.apiSecret}`,
    });
  });
  after(async () => {
    await service?.stop();
  });

  const send = (path: string, body?: object): Promise<Response> =>
    fetch(service.url + path, {
      headers: { ...authorize(website), "Content-Type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
  const usage = async (): Promise<{ used: number; requests: number }> => {
    const { used, requests } = (await (await send("/v2/usage")).json()) as {
      used: number;
      requests: number;
    };
    return { used, requests };
  };

  const path = "/v2/text/synthesize";
  const speech = "/openai/v1/audio/speech";
  const doors: Readonly<Record<string, (text: string) => Promise<Response>>> = {
    "GET /v2": (text) => send(`${path}?${new URLSearchParams({ voice, text })}`),
    "POST /v2": (text) => send(path, { voice, text }),
    OpenAI: (input) => send(speech, { model: "tts-1", voice, input }),
    "OpenAI, as events": (input) => send(speech, { model: "tts-1", voice, input, stream_format: "sse" }),
    ElevenLabs: (text) => send("/elevenlabs/v1/text-to-speech/US_English_Female", { text }),
    "ElevenLabs, streamed": (text) =>
      send("/elevenlabs/v1/text-to-speech/US_English_Female/stream", { text }),
  };

  for (const [script, { text, named }] of Object.entries(texts)) {
    for (const [door, ask] of Object.entries(doors)) {
      it(`is spoken by the next one and charged once: ${script}, ${door}`, async () => {
        const before = await usage();
        const response = await ask(text);
        expect(response.status).to.equal(200);
        if (door.endsWith("/v2"))
          expect(response.headers.get("cache-control")).to.equal("public, max-age=60");
        expect((await response.arrayBuffer()).byteLength).to.be.above(5_000);
        expect(await usage()).to.deep.equal({
          used: before.used + Array.from(text).length,
          requests: before.requests + 1,
        });
      });
    }

    it(`is spoken by the next one and charged once: ${script}, Wyoming`, async () => {
      const before = await usage();
      const { url } = JSON.parse(service.log.find((line) => line.includes('"msg":"wyoming"')) ?? "");
      const client = await openRawClient(url);
      client.send("synthesize", { text, voice: { name: voice } });
      let bytes = 0;
      for (let event = await client.next(); event?.type !== "audio-stop"; event = await client.next()) {
        expect(event?.type).to.be.oneOf(["audio-start", "audio-chunk"]);
        bytes += event?.payload.length ?? 0;
      }
      client.socket.destroy();
      expect(bytes).to.be.above(20_000);
      expect(await usage()).to.deep.equal({
        used: before.used + Array.from(text).length,
        requests: before.requests + 1,
      });
    });

    it(`is refused with its characters, and not charged, if the voice is named: ${script}`, async () => {
      const before = await usage();
      const exact = { engine: "g1", name: "flite:slt", lang: "en-US", text };
      for (const response of [await send(`${path}?${new URLSearchParams(exact)}`), await send(path, exact)]) {
        expect(response.status).to.equal(400);
        const { errors } = await errorOf(response);
        expect(errors?.map(({ path }) => path)).to.deep.equal([["text"]]);
        expect(errors?.[0]?.message).to.include(named);
      }
      expect(await usage()).to.deep.equal(before);
    });
  }
});
