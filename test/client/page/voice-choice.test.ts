import { expect } from "chai";
import { chooseVoice } from "../../../src/client/page/player/voice-choice.ts";
import type { Voice, VoiceCollection, VoiceSelector } from "../../../src/client/voxledger.ts";

const voice = (name: string, members: Partial<Voice> = {}): Voice => ({
  name,
  flag: "gb",
  gender: "f",
  lang: "en-GB",
  voiceIDs: [1],
  ...members,
});

const voices = [
  voice("Old English", { deprecated: true }),
  voice("English Female"),
  voice("English Male", { gender: "m", lang: "en" }),
  voice("Enghien", { lang: "eng-BE" }),
  voice("alloy", { isByok: true, provider: "openai" }),
];

const choose = (selector: VoiceSelector | undefined): Promise<string | undefined> =>
  chooseVoice(selector, { voices: async () => ({ voices }) as unknown as VoiceCollection });

describe("the voice that a website's player selects", () => {
  const cases: readonly (readonly [VoiceSelector, string | undefined])[] = [
    ["a name that no voice has", "a name that no voice has"],
    [{ regex: "english", flags: "i" }, "English Female"],
    [{ regex: "^e.*male$", flags: "giy" }, "English Female"],
    [{ regex: "^Old" }, "Old English"],
    [{ name: "ENGLISH MALE" }, "English Male"],
    [{ lang: "en", gender: "male" }, "English Male"],
    [{ lang: "en-gb", gender: "female" }, "English Female"],
    [{ lang: "eng" }, "Enghien"],
    [{ isByok: true }, "alloy"],
    [{ isByok: false, gender: "m" }, "English Male"],
    [{ provider: "openai" }, "alloy"],
    [{ provider: "openai", isByok: false }, undefined],
    [{}, "English Female"],
  ];
  for (const [selector, expected] of cases) {
    it(`is ${expected} for ${JSON.stringify(selector)}`, async () => {
      expect(await choose(selector)).to.equal(expected);
    });
  }

  it("is the website's without a selector, or without a catalog", async () => {
    expect(await choose(undefined)).to.equal(undefined);
    const failing = { voices: () => Promise.reject(new Error("no network")) };
    expect(await chooseVoice({ lang: "en" }, failing)).to.equal(undefined);
  });
});
