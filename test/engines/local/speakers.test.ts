import { expect } from "chai";
import type { Mark } from "../../../src/domain/synthesis/marks.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import { anyDialect, parseSsml } from "../../../src/domain/text/ssml.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { openToolHost } from "../../support/tool-host.ts";

const never = new AbortController().signal;

const female = "espeak:gmw/en-US+f3";

describe("Documents that several local voices speak", () => {
  const host = duringSuite(openToolHost);
  let engine: Engine;
  before(async () => {
    const [first] = await localEngines({ host });
    if (!first) throw new Error("No tool is installed.");
    engine = first;
  });

  const speak = async (voice: string, sent: string, lang = "en-US") => {
    const ssml = sent.startsWith("<speak");
    const text = ssml ? parseSsml(sent, undefined, anyDialect) : sent;
    const request = {
      text,
      ssml,
      original: sent,
      voice,
      lang,
      prosody: normalProsody,
      format: "wav",
    } as const;
    const speech = await engine.synthesize(request, never);
    const samples = Buffer.concat(await collect(speech.audio));
    if (speech.encoding.kind !== "pcm") throw new Error("The engine returned no samples.");
    const { sampleRate } = speech.encoding;
    return { samples, seconds: samples.length / 2 / sampleRate, sampleRate, marks: speech.marks?.() ?? [] };
  };
  for (const [rule, voice, text, others] of [
    ["of no words but its own", "flite:slt", "Hello 5 €, København.", []],
    [
      "of words in another script",
      "flite:slt",
      "Hello 世界 and мир",
      ["espeak:sit/cmn+f3", "espeak:zle/ru+f3"],
    ],
    ["of such words in a document", female, "<speak>Hello 世界</speak>", ["espeak:sit/cmn+f3"]],
    ["of words that a document leaves to it", "flite:slt", "<speak><sub alias='one'>世界</sub></speak>", []],
    ["of other languages", female, '<speak>a <lang xml:lang="fr">b</lang></speak>', ["espeak:roa/fr+f3"]],
    [
      "that a document names",
      female,
      '<speak><voice name="flite:slt" xml:lang="en-US">b мир</voice></speak>',
      ["flite:slt", "espeak:zle/ru+f3"],
    ],
  ] as const) {
    it(`are known before they speak: those ${rule}`, () => {
      const ssml = text.startsWith("<speak");
      const document = ssml ? parseSsml(text, undefined, anyDialect) : text;
      expect(engine.otherVoices?.({ text: document, ssml, voice, lang: "en-US" })).to.deep.equal(others);
    });
  }

  it("have words in another language spoken by its voice of the same variant", async () => {
    const own = await speak("espeak:gmw/de+f3", "Straße", "de-DE");
    const document = '<speak><lang xml:lang="de">Straße</lang></speak>';
    expect((await speak(female, document)).samples.equals(own.samples)).to.equal(true);
  });

  it("have words in another language spoken by a voice of the same gender if the own tool has none", async () => {
    const document = '<speak><lang xml:lang="de-DE">Straße</lang></speak>';
    for (const [voice, other] of [
      ["flite:slt", "espeak:gmw/de+f3"],
      ["flite:rms", "espeak:gmw/de"],
    ] as const) {
      const own = await speak(other, "Straße", "de-DE");
      expect((await speak(voice, document)).samples.equals(own.samples), voice).to.equal(true);
    }
  });

  it("pause between voices within a sentence no longer than between words", async () => {
    const alone = await Promise.all([
      speak(female, "He said"),
      speak("espeak:roa/fr+f3", "bonjour", "fr-FR"),
      speak(female, "twice."),
    ]);
    const sum = alone.reduce((total, { seconds }) => total + seconds, 0);
    const document = '<speak>He said <lang xml:lang="fr">bonjour</lang> twice.</speak>';
    const { seconds } = await speak(female, document);
    expect(seconds).to.be.within(sum - 1.2, sum - 0.2);
  });

  it("have words spoken by another voice, by its name", async () => {
    const own = await speak("espeak:gmw/en", "Two.", "en-GB");
    const document = '<speak><voice name="espeak:gmw/en" xml:lang="en-GB">Two.</voice></speak>';
    expect((await speak(female, document)).samples.equals(own.samples)).to.equal(true);
  });

  it("have the sample rate of the first voice", async () => {
    const flite = await speak("flite:slt", "One two three.");
    const espeak = await speak(female, "Four five six.");
    const document = `<speak>One two three. <voice name="${female}">Four five six.</voice></speak>`;
    const both = await speak("flite:slt", document);
    expect(both.sampleRate).to.equal(flite.sampleRate).and.not.to.equal(espeak.sampleRate);
    expect(both.seconds).to.be.closeTo(flite.seconds + espeak.seconds, 0.3);
  });

  it("have marks whose times are those of their own samples", async () => {
    const document = `<speak>One <voice name="flite:slt">two</voice> three <lang xml:lang="fr">quatre</lang> five.</speak>`;
    const { marks, seconds } = await speak(female, document);
    const words = marks.filter(({ type }: Mark) => type === "word");
    expect(words.map(({ start, end }) => document.slice(start, end))).to.deep.equal([
      ...["One", "two", "three", "quatre", "five"],
    ]);
    expect(words.map(({ time }) => time)).to.deep.equal(
      words.map(({ time }) => time).toSorted((a, b) => a - b),
    );
    expect(words.at(-1)?.time).to.be.within(500 * seconds, 1000 * seconds - 200);
  });

  it("report their marks when the next word begins", async () => {
    const document =
      '<speak>One <mark name="x"/><lang xml:lang="fr">deux</lang> <break time="1s"/><mark name="y"/></speak>';
    const { marks, seconds } = await speak(female, document);
    const [deux] = marks.filter(({ type, start }) => type === "word" && document.startsWith("deux", start));
    const reached = marks.filter(({ type }) => type === "mark");
    expect(reached.map(({ start, end }) => document.slice(start, end))).to.deep.equal([
      ...['<mark name="x"/>', '<mark name="y"/>'],
    ]);
    expect(reached.map(({ time }) => time)).to.deep.equal([deux?.time, Math.round(seconds * 1000)]);
  });

  for (const voice of ["flite:slt", "flite:rms"]) {
    it(`have the pauses and the prosody of a document in plain texts: ${voice}`, async () => {
      const plain = await speak(voice, "One two. Three four.");
      const document = '<speak>One two. <break time="900ms"/>Three four.</speak>';
      const paused = await speak(voice, document);
      expect(paused.seconds - plain.seconds).to.be.closeTo(0.9, 0.25);
      const slow = await speak(voice, '<speak><prosody rate="50%">One two. Three four.</prosody></speak>');
      expect(slow.seconds / plain.seconds).to.be.within(1.7, 2.2);
    });
  }
});
