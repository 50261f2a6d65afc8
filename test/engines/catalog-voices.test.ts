import { expect } from "chai";
import pLimit from "p-limit";
import { isNative } from "../../src/domain/catalog/native-voice.ts";
import { releaseSeed } from "../../src/domain/catalog/seed/seed.ts";
import type { SystemVoice } from "../../src/domain/synthesis/speech.ts";
import { type Sound, sayLocally } from "../support/local-voice.ts";
import { medianPitch } from "../support/pitch.ts";

/** Digits can be spoken in nearly every language. */
const digits = "1 2 3 4 5";
/** espeak-ng has no numbers for these languages. */
const samples: Readonly<Record<string, string>> = {
  "chr-US": "ᎣᏏᏲ",
  "cv-RU": "салам тӗнче",
  "he-IL": "שלום עולם",
  "nog-RU": "салам дуныя",
  qya: "elen síla",
  sjn: "mae govannen mellon",
  "tk-TM": "salam dünýä",
};

const { systemVoices: all, voices } = releaseSeed();
const systemVoices = all.filter((one) => !isNative(one));
const id = ({ samples }: Sound): string => Buffer.from(samples.buffer).toString("base64");

describe("The local voices of the catalog", () => {
  const received = new Map<SystemVoice, Sound>();

  before(async () => {
    const limit = pLimit(2);
    await Promise.all(
      systemVoices.map((systemVoice) =>
        limit(async () => {
          const text = samples[systemVoice.lang ?? ""] ?? digits;
          received.set(systemVoice, await sayLocally(systemVoice.voiceName ?? "", text));
        }),
      ),
    );
  });

  it("all synthesize audio with the installed tools", () => {
    const silent = systemVoices.filter(
      (one) => !received.get(one)?.samples.some((sample) => Math.abs(sample) > 1000),
    );
    expect(silent.map(({ name }) => name)).to.deep.equal([]);
  });

  it("all sound different from the other voices of their language", () => {
    const same = [...Map.groupBy(systemVoices, ({ lang }) => lang).values()].filter((all) => {
      const sounds = all.map((one) => received.get(one)).filter((sound) => sound !== undefined);
      return new Set(sounds.map(id)).size < all.length;
    });
    expect(same.map(([first]) => first?.lang)).to.deep.equal([]);
  });

  it("have a female or male pitch that matches their gender", () => {
    const pitches = new Map(
      [...received].map(([{ id }, sound]) => [id, medianPitch(sound) ?? Number.NaN] as const),
    );
    const pitchesOf = (voiceIDs: readonly number[]) => voiceIDs.flatMap((id) => pitches.get(id) ?? []);
    for (const [lang, all] of Map.groupBy(voices, ({ lang }) => lang)) {
      const ofGender = (gender: string) =>
        all.filter((one) => one.gender === gender).flatMap(({ voiceIDs }) => pitchesOf(voiceIDs));
      const [women, men] = [ofGender("f"), ofGender("m")];
      expect(Math.min(...men), `${lang}, men`).to.be.at.least(60);
      expect(Math.max(...men), `${lang}, men`).to.be.at.most(150);
      expect(Math.min(...women), `${lang}, women`).to.be.above(1.2 * Math.max(...men));
    }
  });
});
