import { expect } from "chai";
import fc from "fast-check";
import { SaxesParser } from "saxes";
import { speakingSeconds } from "../../../src/domain/synthesis/speaking-time.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import { anyDialect, parseSsml } from "../../../src/domain/text/ssml.ts";
import { azureProvider } from "../../../src/engines/azure/provider.ts";
import { azureSsml } from "../../../src/engines/azure/ssml.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { createExchange } from "../../../src/engines/provider-http/exchange.ts";
import { createSsrfGuard } from "../../../src/engines/provider-http/ssrf-guard.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { collect } from "../../support/collect.ts";
import { recordRequests } from "../../support/record-requests.ts";
import { rejection } from "../../support/rejection.ts";

const never = new AbortController().signal;
const azure = "https://westeurope.tts.speech.microsoft.com";
const exchange = createExchange({ guard: createSsrfGuard({ by: "operator" }) });
const { engine, listVoices } = azureProvider({ exchange }).open({
  subscriptionKey: "key-of-nobody",
  region: "westeurope",
});

const request: SpeechRequest = {
  text: "Hello, world.",
  ssml: false,
  voice: "en-US-JennyNeural",
  lang: "en-US",
  prosody: normalProsody,
  format: "mp3",
};
const soundOf = (audio: string | Buffer) => [200, audio, { "Content-Type": "audio/mpeg" }] as const;

const sendRequest = async (changed: Partial<SpeechRequest> = {}, audio: string | Buffer = "some sound") =>
  recordRequests(
    [azure],
    () => soundOf(audio),
    async () => {
      await collect((await engine.synthesize({ ...request, ...changed }, never)).audio);
    },
  );
const documentFor = async (changed: Partial<SpeechRequest>): Promise<string | undefined> =>
  (await sendRequest(changed))[0]?.body;

const document = (said: string, lang = "en-US"): string =>
  `<speak version="1.0" xml:lang="${lang}" xmlns="http://www.w3.org/2001/10/synthesis">` +
  `<voice name="en-US-JennyNeural">${said}</voice></speak>`;

/** XML 1.0, section 2.2. */
const isXml = (sign: string): boolean => {
  const code = sign.codePointAt(0) ?? 0;
  return (
    [0x9, 0xa, 0xd].includes(code) ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd) ||
    code >= 0x10000
  );
};

describe("A request to Azure", () => {
  it("sends SSML to the region's endpoint, with the service's User-Agent and the key in a header", async () => {
    const [sent, ...others] = await sendRequest();
    expect(others).to.deep.equal([]);
    expect(sent?.path).to.equal("/cognitiveservices/v1");
    expect(sent?.headers).to.include({
      host: "westeurope.tts.speech.microsoft.com",
      "ocp-apim-subscription-key": "key-of-nobody",
      "content-type": "application/ssml+xml",
      "user-agent": "voxledger",
      "x-microsoft-outputformat": "audio-24khz-48kbitrate-mono-mp3",
    });
    expect(sent?.body).to.equal(document("Hello, world."));
  });

  for (const [format, name, encoding] of [
    ["mp3", "audio-24khz-48kbitrate-mono-mp3", { kind: "encoded", format: "mp3" }],
    ["ogg", "ogg-24khz-16bit-mono-opus", { kind: "encoded", format: "ogg" }],
    ["wav", "raw-24khz-16bit-mono-pcm", { kind: "pcm", sampleRate: 24_000 }],
  ] as const) {
    it(`requests ${format} as ${name}`, async () => {
      const [sent] = await recordRequests(
        [azure],
        () => soundOf("some sound"),
        async () => {
          const speech = await engine.synthesize({ ...request, format }, never);
          expect(speech.encoding).to.deep.equal(encoding);
          expect(Buffer.concat(await collect(speech.audio)).toString()).to.equal("some sound");
        },
      );
      expect(sent?.headers["x-microsoft-outputformat"]).to.equal(name);
    });
  }

  for (const [rule, prosody, expected] of [
    ["has no prosody element for default values", {}, "Hello, world."],
    [
      "expresses the rate as a relative change",
      { rate: 1.25 },
      '<prosody rate="+25%">Hello, world.</prosody>',
    ],
    [
      "expresses the pitch as a relative change",
      { pitch: 0.9 },
      '<prosody pitch="-10%">Hello, world.</prosody>',
    ],
    [
      "expresses the volume on a scale to 100",
      { volume: 0.375 },
      '<prosody volume="37.5">Hello, world.</prosody>',
    ],
    [
      "does not go below Azure's minimum values",
      { pitch: 0, rate: 0, volume: 0 },
      '<prosody pitch="-50%" rate="-50%" volume="0">Hello, world.</prosody>',
    ],
    [
      "does not exceed Azure's maximum values",
      { pitch: 2, rate: 2 },
      '<prosody pitch="+50%" rate="+100%">Hello, world.</prosody>',
    ],
  ] as const) {
    it(rule, async () => {
      const said = await documentFor({ prosody: { ...normalProsody, ...prosody } });
      expect(said).to.equal(document(expected));
    });
  }

  it("has no prosody for voices that do not support it according to Azure", async () => {
    const voice = "en-US-Ava:DragonHDLatestNeural";
    expect(engine.prosody(voice)).to.deep.equal([]);
    expect(await documentFor({ voice, prosody: { pitch: 2, rate: 2, volume: 0.5 } })).not.to.include(
      "<prosody",
    );
  });

  const azureDocument = (said: string) => parseSsml(said, undefined, anyDialect);

  it("has other voices beside its own, because Azure does not nest them", async () => {
    const text = azureDocument('<speak>One <p>two <voice name="en-US-GuyNeural">three</voice></p></speak>');
    expect(await documentFor({ text, ssml: true })).to.equal(
      document('One <p>two </p></voice><voice name="en-US-GuyNeural"><p>three</p>'),
    );
  });

  it("has Azure's own elements, and the prosody parameters within them", async () => {
    const said = '<mstts:express-as style="cheerful">Two</mstts:express-as>';
    const text = azureDocument(`<speak>One. ${said}<mstts:silence type="Leading" value="200ms"/></speak>`);
    const root = '<speak version="1.0" xml:lang="en-US" xmlns="http://www.w3.org/2001/10/synthesis" ';
    expect(await documentFor({ text, ssml: true, prosody: { ...normalProsody, volume: 0.5 } })).to.equal(
      `${root}xmlns:mstts="https://www.w3.org/2001/mstts"><voice name="en-US-JennyNeural">` +
        '<prosody volume="50">One. </prosody><mstts:express-as style="cheerful"><prosody volume="50">Two</prosody></mstts:express-as>' +
        '<mstts:silence type="Leading" value="200ms"/></voice></speak>',
    );
  });

  it("embeds the caller's SSML in the voice element", async () => {
    const text = parseSsml('<speak><p>A &amp; <emphasis level="strong">b</emphasis></p></speak>');
    const said = '<prosody rate="+50%"><p>A &amp; <emphasis level="strong">b</emphasis></p></prosody>';
    expect(await documentFor({ text, ssml: true, prosody: { ...normalProsody, rate: 1.5 } })).to.equal(
      document(said),
    );
  });

  it("converts a caller's rate: SSML reads a percentage as a ratio, Azure as a change", async () => {
    const text = parseSsml('<speak><prosody rate="80%">a</prosody><prosody rate="-20%">b</prosody></speak>');
    const said = '<prosody rate="0.8">a</prosody><prosody rate="-20%">b</prosody>';
    expect(await documentFor({ text, ssml: true })).to.equal(document(said));
  });

  it("converts a caller's decibels to a percentage change, since Azure does not support decibels", async () => {
    const text = parseSsml(
      '<speak><prosody rate="80%" volume="-6dB">a</prosody><prosody volume="+6.02dB">+6dB</prosody></speak>',
    );
    const said = '<prosody rate="0.8" volume="-49.88%">a</prosody><prosody volume="+99.99%">+6dB</prosody>';
    expect(await documentFor({ text, ssml: true })).to.equal(document(said));
  });

  it("is well-formed XML and contains the text, for any text", () => {
    const nasty = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("]]>", "<!--", "\0a", "\u000b", "\ud800", "&amp;", '"'),
    );
    fc.assert(
      fc.property(fc.array(nasty), fc.string(), (parts, lang) => {
        const text = parts.join("");
        let said = "";
        const parser = new SaxesParser({ xmlns: true, fragment: false });
        parser.on("text", (part) => {
          said += part;
        });
        parser.on("error", (error) => {
          throw error;
        });
        const written = lang.replace(/[^a-z-]/g, "");
        parser.write(azureSsml({ ...request, text, lang: written })).close();
        const kept = [...text].filter(isXml).join("").replace(/\r\n?/g, "\n");
        expect(said.replace(/\r\n?/g, "\n")).to.equal(kept);
      }),
    );
  });

  for (const [rule, text, prosody] of [
    ["letters", "The quick brown fox jumps over the lazy dog. ".repeat(160), {}],
    ["signs that are syllables", "他昨天去了北京的一家书店。".repeat(280), {}],
    ["figures", "1234567890 ".repeat(360), {}],
    ["letters, slowly", "The quick brown fox jumps over the lazy dog. ".repeat(80), { rate: 0.5 }],
  ] as const) {
    it(`never contains more than ten minutes of ${rule}, which Azure would truncate`, async () => {
      const turned = { ...normalProsody, ...prosody };
      const samples = Buffer.alloc(90 * 2 * 24_000);
      const requests = await sendRequest({ text, prosody: turned }, samples);
      const texts = requests.map(({ body }) => body.replace(/<[^>]*>/g, ""));
      expect(texts.join("")).to.equal(text);
      expect(texts.length).to.be.above(1);
      for (const one of texts) expect(speakingSeconds(one) / turned.rate).to.be.at.most(300);
    });
  }
});

describe("Azure's response", () => {
  it("is a failure when it is as long as Azure's maximum, where Azure truncates", async () => {
    const tenMinutes = Buffer.alloc(6000 * 600, 1);
    await recordRequests(
      [azure],
      () => [200, tenMinutes, { "Content-Type": "audio/mpeg" }],
      async () => {
        const { audio } = await engine.synthesize(request, never);
        expect(await rejection(collect(audio)))
          .to.have.property("message")
          .that.includes("ten minutes");
      },
    );
  });
});

describe("Azure's voice list", () => {
  it("maps to Azure's short names and excludes voices that will be retired", async () => {
    const list = JSON.stringify([
      { ShortName: "en-US-JennyNeural", Locale: "en-US", Gender: "Female", Status: "GA" },
      { ShortName: "zh-CN-liaoning-XiaobeiNeural", Locale: "zh-CN-liaoning", Gender: "Female", Status: "GA" },
      { ShortName: "en-US-Andrew:DragonHDLatestNeural", Locale: "en-US", Gender: "Male", Status: "Preview" },
      { ShortName: "en-US-OldNeural", Locale: "en-US", Gender: "Male", Status: "Deprecated" },
      { ShortName: "../x", Locale: "en-US" },
      null,
    ]);
    const requests = await recordRequests(
      [azure],
      () => [200, list],
      async () => {
        expect(await listVoices(never)).to.deep.equal([
          { name: "en-US-JennyNeural", lang: "en-US", gender: "f" },
          { name: "zh-CN-liaoning-XiaobeiNeural", lang: "zh-CN-liaoning", gender: "f" },
          { name: "en-US-Andrew:DragonHDLatestNeural", lang: "en-US", gender: "m" },
        ]);
      },
    );
    expect(requests.map(({ path }) => path)).to.deep.equal(["/cognitiveservices/voices/list"]);
    expect(requests[0]?.headers).to.include({
      "ocp-apim-subscription-key": "key-of-nobody",
      "user-agent": "voxledger",
    });
  });
});
