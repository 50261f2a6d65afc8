import { globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { detectLanguage } from "../../../../src/domain/text/detection/detect-language.ts";
import { english } from "../../../listen/english.ts";
import { sentences } from "../../../listen/sentences.ts";

/** Languages that the texts of one language may be taken for, because they are written alike. */
const alike: Readonly<Record<string, string>> = { bs: "hr", bpy: "bn", hyw: "hy", ms: "id", nb: "da" };

const primary = (lang: string): string => lang.split("-", 1)[0] ?? lang;

describe("The language of a text", () => {
  for (const [lang, texts] of Object.entries({
    de: ["Guten Morgen, wie geht es dir?", "Wo ist der Bahnhof?", "Zwei Männer reparieren Autos", "Danke"],
    fr: ["Où est la gare ?", "Je t'aime", "L’homme n’est pas là.", "Bonjour"],
    es: ["¿Dónde está la estación?", "¿Dónde está la biblioteca?", "Quiero una cerveza", "Hola"],
    it: ["Buongiorno a tutti", "Questo è un test.", "Ti amo", "Ciao"],
    pt: ["Olá, tudo bem?", "Isto é um teste."],
    nl: ["Dit is een test.", "Goedemorgen allemaal"],
    pl: ["Dzień dobry", "Wszyscy ludzie rodzą się wolni i równi."],
    sv: ["Hej, hur mår du?"],
    tr: ["Bu bir testtir.", "Merhaba dünya"],
    vi: ["Xin chào", "Tôi không biết."],
    id: ["Selamat pagi"],
    "zh-CN": ["你好，世界", "我喜欢用 JavaScript 编程", "iPhone 15 很好用"],
    "zh-TW": ["今天天氣很好，我們去公園吧。"],
    "zh-HK": ["今日天氣好好，我哋去公園"],
    ja: ["こんにちは", "こんにちは世界", "今日は良い天気です。", "東京駅"],
    ko: ["안녕하세요"],
    ru: ["Привет, мир!", "Это очень хорошо."],
    uk: ["Привіт, світе!"],
    bg: ["Здравей, свят!"],
    sr: ["Добар дан, како сте? Ја сам добро."],
    ar: ["مرحبا بالعالم"],
    fa: ["امروز هوا خیلی خوب است."],
    ur: ["آج موسم بہت اچھا ہے۔"],
    hi: ["नमस्ते दुनिया"],
    mr: ["आज हवामान खूप चांगले आहे."],
    el: ["Γειά σου Κόσμε"],
    he: ["שלום עולם"],
  })) {
    it(`is ${lang} for ${texts.join(" | ")}`, () => {
      for (const text of texts) expect(detectLanguage(text), text).to.equal(lang);
    });
  }

  it("is that of a language of the catalog for its sentence, or uncertain, but not another one", () => {
    const taken = Object.entries(sentences).flatMap(([lang, text]) => {
      const detected = detectLanguage(text);
      const isRight = detected === undefined || primary(detected) === primary(lang);
      return isRight || alike[primary(lang)] === detected ? [] : [`${lang}: ${detected}`];
    });
    expect(taken).to.have.members([
      ...["hak-TW: vi", "kl-GL: fil", "ltg-LV: lv", "nog-RU: ru", "pap-CW: pl"],
      ...["art-x-pyash: eo", "eu-ES: de", "io: it", "tk-TM: tr", "sr-Latn: hr"],
    ]);
  });

  it("is that of the words of a text in which nothing is parsed", () => {
    const text = '<speak xml:lang="fr">Guten Morgen, wie geht es dir?</speak>';
    expect(["ssml", "plain"].map((format) => detectLanguage(text, format as "ssml"))).to.deep.equal([
      "fr",
      "de",
    ]);
  });

  it("is that which a document declares, or else that of its words", () => {
    expect(detectLanguage('<speak version="1.1" xml:lang="fr-CA">OK</speak>')).to.equal("fr-CA");
    expect(detectLanguage('<speak xml:lang="en-GB">Guten Tag, wie geht es dir?</speak>')).to.equal(undefined);
    expect(detectLanguage("<speak>Guten Tag, <break/>wie geht es dir?</speak>")).to.equal("de");
  });

  it("is uncertain for names, code and short texts that English also has", () => {
    for (const text of [
      ...[
        "Hello world",
        "OK",
        "1234",
        "",
        "…",
        "Café Müller",
        "Déjà vu",
        "Zoë Müller",
        "José García",
        "L'Oréal",
      ],
      ...["Los Angeles Lakers", "El Niño", "Le Monde", "Rio de Janeiro", "Costa del Sol", "Der Spiegel"],
      ...[
        "Vincent van Gogh",
        "Leonardo da Vinci",
        "Que sera, sera",
        "Vive la France",
        "Das Auto",
        "San Francisco",
      ],
      ...["const x = await fetch(url);", "npm install --save", "Hello 世界", "The word 你好 means hello."],
      ...["A Dan Quayle watch.", "Wernher von Braun", "Coffee w/ milk", "o o o o", "Zen without Zen masters"],
      ...["mah@example.com", "Sept 14: Boy Scouts, Sept 21: Juniors", "Yo baby yo", "They'll burn ya!"],
      ...[
        'He said "je ne sais quoi".',
        "He said 'je ne sais quoi' and left the room.",
        "I ordered a latte and a crème brûlée.",
      ],
    ]) {
      expect(detectLanguage(text), text).to.equal(undefined);
    }
  });

  it("is never another one for 2,000 English sentences, nor for the beginnings of them", () => {
    const files = [
      "*.md",
      "docs/**/*.md",
      "node_modules/{zod,koa,ws,pino,mocha,minio,commander,chai,ai}/**/*.md",
    ];
    const written = files
      .flatMap((pattern) => globSync(pattern))
      .flatMap((file) =>
        readFileSync(file, "utf8")
          .replace(/```.*?```/gs, "")
          .split(/(?<=[.!?])\s+|\n\n/),
      )
      .map((sentence) => sentence.replace(/[`*_#|>\s]+/g, " ").trim())
      .filter((sentence) => /^[A-Z][^{}<=[\]]{10,300}[.!?]$/.test(sentence) && !sentence.includes("http"));
    const texts = new Set([...written, ...Object.values(english).flat(2)]);
    expect(texts.size).to.be.above(2_000);
    for (const text of texts) {
      const words = text.split(" ");
      for (const length of [1, 2, 4, words.length]) {
        const beginning = words.slice(0, length).join(" ");
        expect(detectLanguage(beginning), beginning).to.equal(undefined);
      }
    }
  });

  it("is detected within 20 ms of CPU time, whatever a text consists of", () => {
    for (const text of ["<speak ", "<", "ä", "l'", "家", "é’"].map((part) =>
      part.repeat(5_000 / part.length),
    )) {
      const start = process.cpuUsage();
      for (let round = 0; round < 20; round++) detectLanguage(text);
      expect(process.cpuUsage(start).user / 20, text.slice(0, 10)).to.be.below(20_000);
    }
  });
});
