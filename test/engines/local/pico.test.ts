import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { expect } from "chai";
import { Invalid, Unpronounceable } from "../../../src/domain/errors.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import type { PicoRequest } from "../../../src/subprocess/pico.ts";
import type { SubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { collect } from "../../support/collect.ts";
import { measureLoudness } from "../../support/loudness.ts";
import { openPico, picoVoices, sayWithPico } from "../../support/pico.ts";
import { medianPitch } from "../../support/pitch.ts";
import { rejection } from "../../support/rejection.ts";
import { speakingPieces } from "../../support/speak-piece.ts";
import { fuzzCase, randomOf } from "../../support/speech-fuzz.ts";
import { openToolHost } from "../../support/tool-host.ts";

const never = new AbortController().signal;

const sentence = "The birch canoe slid on the smooth planks.";

describe("SVOX Pico", function () {
  this.timeout(300_000);
  let host: SubprocessHost;
  let engine: Engine;
  /** The requests that its processes got. */
  const requests: PicoRequest[] = [];
  before(async function () {
    host = await openToolHost();
    const watched: SubprocessHost = {
      ...host,
      speakByModel: (job, ...rest) => {
        requests.push(job.request as PicoRequest);
        return host.speakByModel(job, ...rest);
      },
    };
    const opened = await openPico(speakingPieces(watched));
    if (!opened) return this.skip(); // scripts/natural-voices installs its voices
    engine = opened;
  });
  after(() => host.close());

  const digestOf = async (lang: string, text: string): Promise<string> => {
    try {
      const { samples, marks } = await sayWithPico(engine, lang, text);
      return hash("sha256", Buffer.from(samples.buffer)) + JSON.stringify(marks);
    } catch (error) {
      if (error instanceof Invalid || error instanceof Unpronounceable) return error.constructor.name;
      throw error;
    }
  };

  it("gives the same samples and marks for a text whatever was spoken before, in every process", async () => {
    const random = randomOf(5);
    const texts = Array.from({ length: 48 }, (_, at) => ({
      lang: picoVoices[at % picoVoices.length] ?? "en-GB",
      text: fuzzCase(random).one.slice(0, 200),
    }));
    const first = new Map<object, string>();
    for (const one of texts) first.set(one, await digestOf(one.lang, one.text));
    for (let round = 0; round < 2; round++) {
      const shuffled = texts.map((one) => ({ one, key: random(2 ** 30) })).sort((a, b) => a.key - b.key);
      // Two at a time: in both processes.
      for (let at = 0; at < shuffled.length; at += 2) {
        const pair = shuffled.slice(at, at + 2).map(({ one }) => one);
        const found = await Promise.all(pair.map(({ lang, text }) => digestOf(lang, text)));
        expect(found).to.deep.equal(pair.map((one) => first.get(one)));
      }
    }
  });

  const markup = [
    '<genfile file="x.wav">',
    '<play file="/etc/passwd"/>',
    '<usesig file="x.wav">',
    '<speed level="500">',
    '<svox:volume level="0">',
    "<ignore>",
    '<mark name="0"/>',
    "&lt;ignore&gt;",
    "</volume>",
    '< play file="/etc/passwd" />',
  ];
  for (const tag of markup) {
    it(`reads “${tag}” as text`, async () => {
      requests.length = 0;
      const { samples } = await sayWithPico(engine, "en-GB", `One ${tag} two.`);
      const plain = await sayWithPico(engine, "en-GB", "One two.");
      expect(samples.length).to.be.greaterThan(1.3 * plain.samples.length);
      for (const { text } of requests) expect(text).not.to.include("<");
      for (const file of ["x.wav", "/x.wav"]) expect(existsSync(file), file).to.equal(false);
    });
  }

  it("does not treat markup in a request as markup", async () => {
    const { model, request } = await requestFor(host, sentence);
    const speak = async (text: string): Promise<Buffer> =>
      Buffer.concat(await collect(host.speakByModel({ model, request: { ...request, text } }, never)));
    const marked = await speak('One <speed level="500"> two.');
    const harmless = await speak('One  speed level="500"> two.');
    expect(marked.equals(harmless)).to.equal(true);
  });

  for (const lang of picoVoices) {
    it(`speaks ${lang} with true peaks below -1 dBTP, also at the slowest rate`, async () => {
      const texts = {
        "en-GB": sentence,
        "en-US": sentence,
        "de-DE": "Der schnelle braune Fuchs springt über den faulen Hund.",
        "fr-FR": "Les enfants ont mangé une pomme dans le jardin.",
        "es-ES": "Los niños comieron una manzana en el jardín.",
        "it-IT": "I bambini hanno mangiato una mela nel giardino.",
      };
      const normal = await measureLoudness(await sayWithPico(engine, lang, `${texts[lang]} ${texts[lang]}`));
      expect(normal.peak).to.be.below(-1);
      const slow = await measureLoudness(await sayWithPico(engine, lang, texts[lang], { rate: 0.5 }));
      expect(slow.peak).to.be.below(-1);
    });
  }

  it("applies rate, pitch and volume as the headers of a response say", async () => {
    expect(engine.prosody("pico:en-GB")).to.deep.equal(["pitch", "rate", "volume"]);
    const normal = await sayWithPico(engine, "en-GB", sentence);
    const [slow, fast, low, high, quiet] = await Promise.all(
      [{ rate: 0.5 }, { rate: 2 }, { pitch: 0.5 }, { pitch: 2 }, { volume: 0.5 }].map((prosody) =>
        sayWithPico(engine, "en-GB", sentence, prosody),
      ),
    );
    const ratio = (other = normal): number => other.samples.length / normal.samples.length;
    expect(ratio(slow)).to.be.within(1.7, 2.1);
    expect(ratio(fast)).to.be.within(0.5, 0.65);
    expect(ratio(low)).to.equal(1);
    const pitch = (sound = normal): number => medianPitch(sound) ?? Number.NaN;
    expect(pitch(low) / pitch()).to.be.within(0.78, 0.88);
    expect(pitch(high) / pitch()).to.be.within(1.5, 1.75);
    const peak = ({ samples } = normal): number => samples.reduce((most, one) => Math.max(most, one), 0);
    expect(peak(quiet) / peak()).to.be.closeTo(0.5, 0.01);
  });

  it("tells when each word begins", async () => {
    const text = `${sentence} It’s “easy” to tell the depth of 12 wells.`;
    const { marks = [], samples } = await sayWithPico(engine, "en-GB", text);
    const words = marks.filter(({ type }) => type === "word");
    expect(words.map(({ start, end }) => text.slice(start, end))).to.deep.equal(
      "The birch canoe slid on the smooth planks It’s easy to tell the depth of 12 wells".split(" "),
    );
    expect(marks.filter(({ type }) => type === "sentence")).to.have.length(2);
    for (const [at, { time }] of words.entries()) {
      expect(time).to.be.greaterThan(words[at - 1]?.time ?? -1);
      expect(time).to.be.lessThan(samples.length / 16);
    }
  });

  it("tells when each word of a date begins, and of an amount", async () => {
    for (const [lang, text] of [
      ["es-ES", "El 5 de marzo de 2026 hicimos 120 km."],
      ["it-IT", "Il conto è di 48 euro."],
      ["fr-FR", "Le 5 mars 2026, à 15 h 45."],
    ] as const) {
      const { marks = [] } = await sayWithPico(engine, lang, text);
      const times = marks.filter(({ type }) => type === "word").map(({ time }) => time);
      expect(times.length, text).to.be.at.least(text.split(" ").length - 2);
      expect(times.slice(1).map((time, at) => time - (times[at] ?? 0) > 20)).to.not.include(false);
    }
  });

  it("speaks the halves of a sentence at which Pico fails, and marks their words", async () => {
    const text =
      "mains en prière distributeur de billets lampion rouge disquette télescope cocktail tropical " +
      "personne qui s'incline chaînons peau légèrement mate voiture de course cotillons projecteur " +
      "cinématographique peau légèrement mate personne qui se fait couper les cheveux alphabet latin peau";
    const { marks = [], samples } = await sayWithPico(engine, "fr-FR", `🖰 ${text}`);
    expect(samples.length / 16_000).to.be.within(10, 20);
    const words = marks.filter(({ type }) => type === "word").length;
    expect(words).to.be.at.least(text.split(" ").length);
  });

  it("goes on after the sentences before one at which Pico fails, and marks the words of both", async () => {
    const text =
      "\u{65e5}`\u{131}%\\1.3:45 (a)W@\u{1d49c}?!?!\u{0}%\u{201d}1." +
      "$5 `\u{131}10 000 &#65;\u{131}`\u{e0041}```\n\u{2192}\u{1f1e9}\u{1f1ea}&#65;\u{bd} a\u{301}\u{327}\u{1f642}";
    const { marks = [], samples } = await sayWithPico(engine, "it-IT", text, { rate: 0.5, pitch: 2 });
    expect(samples.length / 16_000).to.be.within(65, 75);
    const starts = marks.filter(({ type }) => type === "word").map(({ start }) => start);
    expect(starts).to.deep.equal(starts.toSorted((a, b) => a - b));
    expect(starts.at(-1)).to.be.at.least(text.lastIndexOf(" "));
  });

  it("never goes back in time at a text that repeats itself", async () => {
    const { marks = [] } = await sayWithPico(engine, "it-IT", "<b>".repeat(40), { rate: 2 });
    const starts = marks.filter(({ type }) => type === "word").map(({ start }) => start);
    expect(starts).to.deep.equal(starts.toSorted((a, b) => a - b));
  });

  it("places words after pauses where their audio begins", async () => {
    const list = "apple, mountain, seven, river, garden, yellow, window, orange, number, animal";
    const { marks = [], samples } = await sayWithPico(engine, "en-GB", `${list}.`);
    const words = marks.filter(({ type }) => type === "word");
    const onsets = onsetsOf(samples);
    const offsets = words.map(({ time }) => Math.min(...onsets.map((onset) => Math.abs(onset - time))));
    expect(offsets).to.have.length(10);
    // Vowels begin softly.
    expect(Math.max(...offsets)).to.be.at.most(110);
    expect(offsets.sort((one, other) => one - other)[5]).to.be.at.most(40);
  });

  it("reads all letters of Latin scripts, and refuses letters that no voice reads", async () => {
    const samples = async (lang: string, text: string) => (await sayWithPico(engine, lang, text)).samples;
    expect(await samples("en-GB", "Dvořák in Łódź.")).to.deep.equal(
      await samples("en-GB", "Dvorák in Lódz."),
    );
    expect(await samples("fr-FR", "El Niño.")).to.deep.equal(await samples("fr-FR", "El Nino."));
    expect(await samples("de-DE", "Œuvre.")).to.deep.equal(await samples("de-DE", "OEuvre."));
    expect(await rejection(sayWithPico(engine, "en-GB", "a ꠴ b"))).to.be.instanceOf(Unpronounceable);
  });
});

/** The model and a request to the tool for a text. */
const requestFor = async (host: SubprocessHost, text: string) => {
  const { promise, resolve } = Promise.withResolvers<Parameters<SubprocessHost["speakByModel"]>[0]>();
  const speakByModel: SubprocessHost["speakByModel"] = (job, ...rest) => {
    resolve(job);
    return host.speakByModel(job, ...rest);
  };
  const engine = await openPico(speakingPieces({ ...host, speakByModel }));
  if (!engine) throw new Error("Pico is not installed.");
  await sayWithPico(engine, "en-GB", text);
  return promise;
};

/** Milliseconds at which audio begins after at least 80 ms of silence. */
const onsetsOf = (samples: Int16Array): number[] => {
  const loud = 400;
  const found: number[] = [];
  let last = -80 * 16;
  for (const [at, sample] of samples.entries()) {
    if (Math.abs(sample) < loud) continue;
    if (at - last > 80 * 16) found.push(at / 16);
    last = at;
  }
  return found;
};
