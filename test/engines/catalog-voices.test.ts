import { expect } from "chai";
import pLimit from "p-limit";
import { isNative } from "../../src/domain/catalog/native-voice.ts";
import { releaseSeed } from "../../src/domain/catalog/seed/seed.ts";
import type { SystemVoice } from "../../src/domain/synthesis/speech.ts";
import { readingVoice } from "../../src/engines/local/espeak.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { collect } from "../support/collect.ts";
import { type Sound, sayLocally, soundOf } from "../support/local-voice.ts";
import { medianPitch } from "../support/pitch.ts";
import { openToolHost } from "../support/tool-host.ts";

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

const normal = { rate: 175, pitch: 50, volume: 100, ssml: false } as const;

/**
 * The output of the tool. espeak-ng's library gives the same as its command, which would be started
 * for each voice.
 */
const speak = async (host: SubprocessHost, name: string, input: string): Promise<Sound> => {
  const [, voice] = /^espeak:(.*)/.exec(name) ?? [];
  if (voice === undefined) return await sayLocally(name, input);
  const wav = host.speak({ ...normal, voice: readingVoice(voice), input }, new AbortController().signal);
  return soundOf(Buffer.concat(await collect(wav)));
};

describe("The local voices of the catalog", () => {
  const received = new Map<SystemVoice, Sound>();

  before(async () => {
    const limit = pLimit(2);
    const host = await openToolHost({ speakers: 2 });
    await Promise.all(
      systemVoices.map((systemVoice) =>
        limit(async () => {
          const text = samples[systemVoice.lang ?? ""] ?? digits;
          received.set(systemVoice, await speak(host, systemVoice.voiceName ?? "", text));
        }),
      ),
    ).finally(host.close);
  });

  it("all synthesize audio with the installed tools", () => {
    const silent = systemVoices.filter(
      (one) => !received.get(one)?.samples.some((sample) => Math.abs(sample) > 1000),
    );
    expect(silent.map(({ name }) => name)).to.deep.equal([]);
  });

  it("all audio different from the other voices of their language", () => {
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
