import { expect } from "chai";
import type { Engine } from "../../src/engines/engine.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import type { Sound } from "../support/local-voice.ts";
import { measureLoudness } from "../support/loudness.ts";
import {
  joinedSpeech,
  type NaturalSpeech,
  openNaturalEngine,
  paragraphsOf,
  sayNaturally,
} from "../support/natural-engine.ts";
import { openToolHost } from "../support/tool-host.ts";
import { naturalSentences } from "./natural-sentences.ts";

const langs: Readonly<Record<string, string>> = {
  "hibari:heart": "en-US",
  "pico:en-GB": "en-GB",
  "pico:de-DE": "de-DE",
  "pico:fr-FR": "fr-FR",
  "pico:es-ES": "es-ES",
  "pico:it-IT": "it-IT",
};

/** A window of 5 ms with less energy (root mean square) is silent. */
const silence = 60;
const windowSeconds = 0.005;

interface Pause {
  /** In seconds. */
  readonly at: number;
  readonly seconds: number;
}

/** The silences of at least 50 ms, those at both ends included. */
const pausesOf = ({ samples, sampleRate }: Sound): Pause[] => {
  const size = Math.round(windowSeconds * sampleRate);
  const pauses: Pause[] = [];
  let quiet = 0;
  const end = (window: number): void => {
    const seconds = quiet * windowSeconds;
    if (seconds >= 0.05) pauses.push({ at: window * windowSeconds - seconds, seconds });
    quiet = 0;
  };
  const windows = Math.floor(samples.length / size);
  for (let window = 0; window < windows; window++) {
    let energy = 0;
    for (const sample of samples.subarray(window * size, (window + 1) * size)) energy += sample ** 2;
    if (Math.sqrt(energy / size) < silence) quiet++;
    else end(window);
  }
  end(windows);
  return pauses;
};

/** The pauses with speech before and after them. */
const innerPausesOf = (sound: Sound): Pause[] => {
  const end = sound.samples.length / sound.sampleRate - windowSeconds;
  return pausesOf(sound).filter(({ at, seconds }) => at > 0 && at + seconds < end);
};

/**
 * The largest step between two samples of a pause, without the 10 ms at its ends, where speech ends
 * and begins.
 */
const largestStep = ({ samples, sampleRate }: Sound, { at, seconds }: Pause): number => {
  let largest = 0;
  const until = Math.round((at + seconds - 0.01) * sampleRate);
  for (let sample = Math.round((at + 0.01) * sampleRate) + 1; sample < until; sample++)
    largest = Math.max(largest, Math.abs((samples[sample] ?? 0) - (samples[sample - 1] ?? 0)));
  return largest;
};

describe("Natural voices", () => {
  let host: SubprocessHost;
  let engine: Engine;
  before(async function () {
    host = await openToolHost();
    const opened = await openNaturalEngine(host, Object.keys(langs));
    if (!opened) return this.skip(); // scripts/natural-voices installs them
    engine = opened;
  });
  after(() => host.close());

  const say = (voice: string, text: string, rate = 1): Promise<NaturalSpeech> =>
    sayNaturally(engine, { voice, lang: langs[voice] ?? "", text, rate });

  for (const [voice, lang] of Object.entries(langs)) {
    it(`speak 50 sentences or more at -23 LUFS, without clipping, with pauses in between: ${voice}`, async () => {
      const sentences = naturalSentences[lang] ?? [];
      expect(sentences.length).to.be.at.least(50);
      const spoken: NaturalSpeech[] = [];
      for (const text of paragraphsOf(sentences)) spoken.push(await say(voice, text));
      const whole = joinedSpeech(spoken);
      const { lufs, peak } = await measureLoudness(whole);
      expect(lufs).to.be.closeTo(-23, 0.75);
      expect(peak).to.be.at.most(-1);
      expect(sentences.join(" ").length / (whole.samples.length / whole.sampleRate)).to.be.within(9, 17);
      for (const one of spoken) {
        const between = innerPausesOf(one).filter(({ seconds }) => seconds >= 0.25);
        expect(between.length, "pauses").to.be.at.least(4);
        for (const pause of pausesOf(one)) {
          expect(pause.seconds, `pause at ${pause.at} s`).to.be.at.most(0.8);
          expect(largestStep(one, pause), `step at ${pause.at} s`).to.be.at.most(400);
        }
      }
    });

    it(`pause less at a higher rate: ${voice}`, async () => {
      const text = (naturalSentences[lang] ?? []).slice(0, 3).join(" ");
      const longest = ({ seconds }: { seconds: number }): number => seconds;
      const pauses = innerPausesOf(await say(voice, text, 2)).map(longest);
      expect(Math.max(...pauses)).to.be.at.most(0.45);
    });
  }

  const clauses =
    "When the old man came down from the hills, which were covered in snow that year, he brought with him a dog, two sheep, and a bundle of wood, all of which he wanted to sell in the market of the small town, where his sister lived.";
  for (const voice of ["hibari:heart", "pico:en-GB"]) {
    it(`pause within a long sentence no longer than at commas: ${voice}`, async () => {
      const pauses = innerPausesOf(await say(voice, clauses));
      expect(Math.max(...pauses.map(({ seconds }) => seconds))).to.be.at.most(0.5);
    });
  }

  it("do not pause in the middle of a sentence without commas as at its end: hibari:heart", async () => {
    const text = "and then they went home to their old children ".repeat(6);
    const pauses = innerPausesOf(await say("hibari:heart", text));
    expect(Math.max(...pauses.map(({ seconds }) => seconds))).to.be.at.most(0.45);
  });

  it("speak a sentence of any number of words, and mark all of them: pico:en-GB", async () => {
    const words = "go on up to it or we do so as I am by it ".repeat(5).trim().split(" ");
    const { marks } = await say("pico:en-GB", words.join(" "));
    expect(marks.filter(({ type }) => type === "word")).to.have.length(words.length);
  });

  it("begin Spanish questions and exclamations at once: pico:es-ES", async () => {
    for (const text of ["¿Dónde está la estación?", "¡Qué día tan bonito!"]) {
      const { samples, sampleRate } = await say("pico:es-ES", text);
      expect(samples.findIndex((sample) => Math.abs(sample) > 100) / sampleRate, text).to.be.below(0.2);
    }
    const inside = pausesOf(await say("pico:es-ES", "Y tú, ¿qué haces mañana?")).slice(0, -1);
    expect(Math.max(...inside.map(({ seconds }) => seconds))).to.be.below(0.5);
  });

  it("pause once at several signs: pico:en-GB", async () => {
    const once = await say("pico:en-GB", "Anna? Berta.");
    const { length } = (await say("pico:en-GB", "Anna?!! Berta.")).samples;
    expect(length).to.be.closeTo(once.samples.length, 0.1 * once.sampleRate);
  });
});
