import { expect } from "chai";
import { itSpeaksTheSame, samplesOf } from "../support/same-sound.ts";

describe("Letters that a voice does not know", () => {
  // flite knows only ASCII.
  itSpeaksTheSame(
    "en-US",
    [
      ["København", "Kobenhavn"],
      ["Łódź and Straße", "Lodz and Strasse"],
      ["Æther, œuvre, þing, đak, ħal, dotless ı", "AEther, oeuvre, thing, dak, hal, dotless i"],
      ["Café, naïve, façade, Zürich, Žižek", "Cafe, naive, facade, Zurich, Zizek"],
      ["the β version", "the beta version"],
      ["<speak>In <sub alias='København'>DK</sub>.</speak>", "<speak>In Kobenhavn.</speak>"],
    ],
    "flite",
  );
  // A voice of their language speaks them.
  const runs: readonly (readonly [string, string])[] = [
    ["Hello 世界", '<speak>Hello <lang xml:lang="zh-CN">世界</lang></speak>'],
    ["Say こんにちは世界 now", '<speak>Say <lang xml:lang="ja-JP">こんにちは世界 </lang>now</speak>'],
    ["Say שלום now", '<speak>Say <lang xml:lang="he-IL">שלום </lang>now</speak>'],
    ["Say مرحبا now", '<speak>Say <lang xml:lang="ar-SA">مرحبا </lang>now</speak>'],
    ["Say привет, мир! Now.", '<speak>Say <lang xml:lang="ru-RU">привет, мир! </lang>Now.</speak>'],
    ["Say γειά σου now", '<speak>Say <lang xml:lang="el-GR">γειά σου </lang>now</speak>'],
    ["Say नमस्ते now", '<speak>Say <lang xml:lang="hi-IN">नमस्ते </lang>now</speak>'],
    ["สวัสดี", '<speak><lang xml:lang="th-TH">สวัสดี</lang></speak>'],
  ];
  itSpeaksTheSame("en-US", runs);
  itSpeaksTheSame("en-US", runs, "flite");
  itSpeaksTheSame("ru-RU", [["Слово 世界", '<speak>Слово <lang xml:lang="zh-CN">世界</lang></speak>']]);

  // espeak-ng's own change of language made other samples in one of four attempts.
  for (const text of ["Say \u0d29 now", "ൽ൵ബഇഖഘ൴ു൜്ഴ഼ാ"]) {
    it(`give the same samples each time: ${text}`, async () => {
      const attempts = await Promise.all(Array.from({ length: 24 }, () => samplesOf(text, "la")));
      expect(new Set(attempts)).to.have.lengthOf(1);
    });
  }
});
