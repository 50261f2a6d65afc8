import { randomUUID } from "node:crypto";
import { expect } from "chai";
import OpenAI from "openai";
import type { Mark } from "../../../src/domain/synthesis/marks.ts";
import {
  admin,
  authorize,
  bytesOf,
  errorOf,
  registerWebsite,
  synthesize,
  synthesizeByPost,
} from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { startInProcessService } from "../../support/in-process-service.ts";
import { openWebSocketClient } from "../../support/websocket-client.ts";
import { goodCredentials, serveProviders } from "../../support/wire/providers.ts";

const markdown = "# Good *news*\n\n- **Buy** [milk](https://example.com/shop)\n- Go `home`.\n";
const read = "Good news\n\nBuy milk\n\nGo home.";
const voice = "UK English Female";

describe("The format of a text", () => {
  const providers = duringSuite(serveProviders);
  const service = duringSuite(() => startInProcessService({ ...providers.env, BURST_LIMIT: "1000000" }));
  const website = duringSuite(() => registerWebsite(service.url));

  before(async () => {
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/gwn`, goodCredentials.gwn);
  });

  const json = (path: string, body: object, headers: Record<string, string>): Promise<Response> =>
    fetch(service.url + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const token = (): string => `${website.apiKey}.${website.apiSecret}`;
  const openai = () => new OpenAI({ apiKey: token(), baseURL: `${service.url}/openai/v1`, maxRetries: 0 });

  /** A response to a text in every API. */
  const doors: Readonly<Record<string, (text: string, format?: string) => Promise<Response>>> = {
    "POST /v2/text/synthesize": (text, text_format) =>
      synthesizeByPost(service.url, website, { text, voice, text_format }),
    "GET /v2/text/synthesize": (text, text_format = "") =>
      synthesize(service.url, website, { text, voice, text_format }),
    "GET /v1/text:synthesize": (text, text_format = "") =>
      fetch(
        `${service.url}/v1/text:synthesize?${new URLSearchParams({ text, lang: "en-GB", text_format })}`,
        {
          headers: authorize(website),
        },
      ),
    "OpenAI's client": (input, text_format) =>
      openai()
        .audio.speech.create({ input, voice, model: "tts-1", response_format: "mp3", ...{ text_format } })
        .catch(({ status, error }) => Response.json({ error }, { status })),
    "POST /elevenlabs/v1/text-to-speech/{voice}": (text, text_format) =>
      json(
        "/elevenlabs/v1/text-to-speech/UK%20English%20Female",
        { text, text_format },
        { "xi-api-key": token() },
      ),
  };

  for (const [door, speak] of Object.entries(doors)) {
    describe(`of ${door}`, () => {
      it("is Markdown, of which the audio is that of its words", async () => {
        const [spoken, expected, literal] = [
          await speak(markdown, "markdown"),
          await speak(read),
          await speak(markdown),
        ];
        expect([spoken.status, expected.status, literal.status]).to.deep.equal([200, 200, 200]);
        const sound = await bytesOf(spoken);
        expect(sound.equals(await bytesOf(expected))).to.equal(true);
        expect(sound.equals(await bytesOf(literal))).to.equal(false);
      });

      it("is plain, and never parsed", async () => {
        const [plain, ssml] = [
          await speak("<speak>Hello</speak>", "plain"),
          await speak("<speak>Hello</speak>", "ssml"),
        ];
        expect([plain.status, ssml.status]).to.deep.equal([200, 200]);
        const sound = await bytesOf(ssml);
        expect(sound.equals(await bytesOf(plain))).to.equal(false);
        expect(sound.equals(await bytesOf(await speak("<speak>Hello</speak>")))).to.equal(true);
      });

      it("is refused if it is unknown, or not that of the text", async () => {
        const unknown = await speak("Hello", "html");
        expect(unknown.status).to.be.oneOf([400, 422]);
        expect(await unknown.text()).to.include("text_format");
        expect((await speak("Hello", "ssml")).status).to.be.oneOf([400, 422]);
        expect((await speak("***", "markdown")).status).to.be.oneOf([400, 422]);
      });
    });
  }

  it("has the path of its member in an error", async () => {
    const { errors } = await errorOf(
      await synthesizeByPost(service.url, website, { text: "Hello", voice, text_format: "html" }),
    );
    expect(errors?.map(({ path }) => path)).to.deep.equal([["text_format"]]);
  });

  it("may be set for a website, for requests of compatible APIs that name none", async () => {
    const own = await registerWebsite(service.url);
    const path = `/websites/${own.id}/config`;
    const set = await admin(service.url, "PUT", path, { sdkVersion: "v2", textFormat: "markdown" });
    expect([set.status, set.body.storedConfig]).to.deep.equal([
      200,
      { sdkVersion: "v2", textFormat: "markdown" },
    ]);
    expect((await admin(service.url, "PUT", path, { textFormat: "html" })).status).to.equal(400);
    const shown = await fetch(`${service.url}/v2/config`, { headers: authorize(own) });
    expect(await shown.json()).to.not.have.property("textFormat");
    const bearer = `${own.apiKey}.${own.apiSecret}`;
    const viaOpenAi = (more: object) =>
      json(
        "/openai/v1/audio/speech",
        { model: "tts-1", voice, input: "A *fine* day", ...more },
        { Authorization: `Bearer ${bearer}` },
      );
    const viaElevenLabs = (more: object) =>
      json(
        "/elevenlabs/v1/text-to-speech/UK%20English%20Female",
        { text: "A *fine* day", ...more },
        { "xi-api-key": bearer },
      );
    for (const speak of [viaOpenAi, viaElevenLabs]) {
      const [unnamed, named, plain] = await Promise.all(
        [{}, { text_format: "markdown" }, { text_format: "plain" }].map(async (more) =>
          bytesOf(await speak(more)),
        ),
      );
      expect(unnamed?.equals(named ?? Buffer.of())).to.equal(true);
      expect(unnamed?.equals(plain ?? Buffer.of())).to.equal(false);
    }
    const v2 = await synthesizeByPost(service.url, own, { text: "A *fine* day", voice });
    const literal = await synthesizeByPost(service.url, own, {
      text: "A *fine* day",
      voice,
      text_format: "plain",
    });
    expect((await bytesOf(v2)).equals(await bytesOf(literal))).to.equal(true);
  });

  it("is charged with the characters that were sent", async () => {
    const charged = async () =>
      (await admin(service.url, "GET", `/keys/${website.apiKey}/usage`)).body.characters;
    const before = Number(await charged());
    const text = `**${randomUUID()}**`;
    expect(
      (await synthesizeByPost(service.url, website, { text, voice, text_format: "markdown" })).status,
    ).to.equal(200);
    expect(await charged()).to.equal(before + text.length);
  });

  it("leaves the places of marks in the text as sent", async () => {
    const response = await synthesizeByPost(service.url, website, {
      text: markdown,
      voice,
      text_format: "markdown",
    });
    const [, path = ""] = /<([^>]+)>; rel="describedby"/.exec(response.headers.get("link") ?? "") ?? [];
    const lines = (await (await fetch(new URL(path, service.url))).text()).trim().split("\n");
    const marks = lines.map((line) => JSON.parse(line) as Mark).filter(({ type }) => type === "word");
    expect(marks.map(({ start, end }) => markdown.slice(start, end))).to.deep.equal([
      ...["Good", "news", "Buy", "milk", "Go", "home"],
    ]);
  });

  it("has pauses that last as long as they say, and at most 10 seconds", async () => {
    const secondsOf = async (text: string): Promise<number> =>
      Number(
        (await synthesizeByPost(service.url, website, { text, voice, text_format: "markdown" })).headers.get(
          "x-audio-duration",
        ),
      );
    const [none, long, longest] = [
      await secondsOf("One two"),
      await secondsOf("One [pause:3s] two"),
      await secondsOf("One [pause:90s] two"),
    ];
    expect(long - none).to.be.within(2.5, 4);
    expect(longest - none).to.be.within(9.5, 11.5);
  });

  it("reaches a website's own provider as words, in streams too", async () => {
    const request = { text: markdown, text_format: "markdown", voice: "en-US-Neural2-C" };
    const said = () =>
      providers.gwn.requests
        .filter(({ method }) => method === "POST")
        .map(({ body }) => JSON.parse(String(body)).input);
    expect((await synthesizeByPost(service.url, website, request)).status).to.equal(200);
    expect(said().at(-1)).to.deep.equal({ text: read });
    const paused = { ...request, text: "One [pause:1s] *two*" };
    expect((await synthesizeByPost(service.url, website, paused)).status).to.equal(200);
    expect(said().at(-1)).to.deep.equal({ ssml: '<speak>One<break time="1000ms"/> two</speak>' });
    const client = await openWebSocketClient(`${service.url.replace("http", "ws")}/v2/text/stream`, {
      headers: authorize(website),
    });
    try {
      const id = randomUUID();
      client.send({ type: "synthesize", id, request: { ...request, text: "A *word* of the stream." } });
      await client.expect("stream_start");
      expect(said().at(-1)).to.deep.equal({ text: "A word of the stream." });
    } finally {
      await client.close();
    }
  });
});
