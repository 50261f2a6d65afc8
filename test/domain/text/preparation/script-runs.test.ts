import { expect } from "chai";
import type { Reader } from "../../../../src/domain/text/preparation/reader.ts";
import { scriptRuns } from "../../../../src/domain/text/preparation/script-runs.ts";

const runsOf = (text: string, lang = "en-US", tool: Reader["tool"] = "flite") =>
  scriptRuns(text, { lang, tool }).map((run) => [run.text, run.lang]);

describe("The runs of a text in other scripts", () => {
  it("are spoken by a voice of a language with that script", () => {
    const words: [string, string][] = [
      ["世界", "zh-CN"],
      ["こんにちは", "ja-JP"],
      ["世界はひとつ", "ja-JP"],
      ["안녕하세요", "ko-KR"],
      ["สวัสดี", "th-TH"],
      ["မင်္ဂလာပါ", "my-MM"],
      ["שלום", "he-IL"],
      ["مرحبا", "ar-SA"],
      ["سلام چطوری", "fa-IR"],
      ["ٹھیک ہے", "ur-PK"],
      ["ሰላም", "am-ET"],
      ["Բարև", "hy-AM"],
      ["გამარჯობა", "ka-GE"],
      ["नमस्ते", "hi-IN"],
      ["నమస్కారం", "te-IN"],
      ["привет", "ru-RU"],
      ["привіт", "uk-UA"],
      ["γειά", "el-GR"],
    ];
    for (const [word, lang] of words) {
      expect(runsOf(word), word).to.deep.equal([[word, lang]]);
      expect(runsOf(`Say ${word} now`), word).to.deep.equal([
        ["Say ", undefined],
        [`${word} `, lang],
        ["now", undefined],
      ]);
    }
  });

  it("leave texts in the script of their language whole", () => {
    const texts: [lang: string, text: string][] = [
      ["en-US", "Café “naïve” – 5 µm, π, ℃, 🙂, ½"],
      ["ja-JP", "日本語のテキストとABC、ラーメン。"],
      ["zh-CN", "你好,world。"],
      ["ru-RU", "Привет, world!"],
      ["sr-RS", "Здраво svete"],
      ["ur-PK", "آپ کیسے ہیں"],
      ["el-GR", "Γειά σου Κόσμε"],
    ];
    for (const [lang, text] of texts) {
      expect(runsOf(text, lang), text).to.deep.equal([[text, undefined]]);
    }
  });

  it("keep digits and punctuation between and after their letters", () => {
    expect(runsOf("I like 我有3个,好吗?” Yes.")).to.deep.equal([
      ["I like ", undefined],
      ["我有3个,好吗?” ", "zh-CN"],
      ["Yes.", undefined],
    ]);
    expect(runsOf("(世界)!")).to.deep.equal([["(世界)!", "zh-CN"]]);
  });

  it("are the same for every tool", () => {
    for (const tool of ["espeak", "flite", "sherpa"] as const) {
      expect(runsOf("Say नमस्ते now", "en-US", tool)).to.deep.equal([
        ["Say ", undefined],
        ["नमस्ते ", "hi-IN"],
        ["now", undefined],
      ]);
    }
  });

  it("do not divide a Latin word at letters that look like Latin ones", () => {
    expect(runsOf("pаypаl", "en-US")).to.deep.equal([["pаypаl", undefined]]);
  });

  it("are the text when they are joined", () => {
    const text = "a世b界 (привет) ... שלום!\n\nمرحبا 123 สวัสดี — x";
    for (const lang of ["en-US", "zh-CN", "ru-RU", "ja-JP"]) {
      for (const tool of ["flite", "espeak", "sherpa"] as const) {
        expect(
          scriptRuns(text, { lang, tool })
            .map((run) => run.text)
            .join(""),
        ).to.equal(text);
      }
    }
  });
});
