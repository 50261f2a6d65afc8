import { expect } from "chai";
import pLimit from "p-limit";
import { releaseSeed } from "../../src/catalog-seed/seed.ts";
import type { SystemVoice } from "../../src/domain/speech.ts";
import { type Sound, sayLocally } from "../support/local-voice.ts";
import { medianPitch } from "../support/pitch.ts";

/** Digits are read in nearly every language. */
const digits = "1 2 3 4 5";
/** espeak-ng has no numbers for these. */
const samples: Readonly<Record<string, string>> = {
  "chr-US": "ᎣᏏᏲ",
  "cv-RU": "салам тӗнче",
  "he-IL": "שלום עולם",
  "nog-RU": "салам дуныя",
  qya: "elen síla",
  sjn: "mae govannen mellon",
  "tk-TM": "salam dünýä",
};

const { systemVoices, voices } = releaseSeed();
const id = ({ samples }: Sound): string => Buffer.from(samples.buffer).toString("base64");

describe("The voices of this release", () => {
  const heard = new Map<SystemVoice, Sound>();

  before(async function () {
    this.timeout(60_000);
    const limit = pLimit(2);
    await Promise.all(
      systemVoices.map((systemVoice) =>
        limit(async () => {
          const text = samples[systemVoice.lang ?? ""] ?? digits;
          heard.set(systemVoice, await sayLocally(systemVoice.voiceName ?? "", text));
        }),
      ),
    );
  });

  it("all speak, with the tools that are installed", () => {
    const silent = systemVoices.filter(
      (one) => !heard.get(one)?.samples.some((sample) => Math.abs(sample) > 1000),
    );
    expect(silent.map(({ name }) => name)).to.deep.equal([]);
  });

  it("all differ from the others of their language, women from men above all", () => {
    const same = [...Map.groupBy(systemVoices, ({ lang }) => lang).values()].filter((all) => {
      const sounds = all.map((one) => heard.get(one)).filter((sound) => sound !== undefined);
      return new Set(sounds.map(id)).size < all.length;
    });
    expect(same.map(([first]) => first?.lang)).to.deep.equal([]);
  });

  it("have women that are heard as women, and men as men", () => {
    const pitchOf = (voiceIDs: readonly number[]): number[] =>
      systemVoices
        .filter((one) => voiceIDs.includes(one.id))
        .map((one) => medianPitch(heard.get(one) ?? { sampleRate: 0, samples: new Int16Array() }) ?? 0);
    for (const lang of [
      "en-US",
      "en-GB",
      "en-GB-scotland",
      "de-DE",
      "fr-FR",
      "ru-RU",
      "zh-CN",
      "hi-IN",
      "cy-GB",
      "eo",
    ]) {
      const ofLang = (gender: string) =>
        pitchOf(
          voices.filter((one) => one.lang === lang && one.gender === gender).flatMap((one) => one.voiceIDs),
        );
      const [lowestWoman, highestMan] = [Math.min(...ofLang("f")), Math.max(...ofLang("m"))];
      expect(highestMan, `${lang}, men`).to.be.within(60, 150);
      expect(lowestWoman, `${lang}, women`).to.be.above(1.2 * highestMan);
    }
  });
});
