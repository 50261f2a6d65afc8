import { expect } from "chai";
import { EngineFailed } from "../../../src/domain/errors.ts";
import { minDuration, requireDuration } from "../../../src/domain/synthesis/min-duration.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";

const manner = { ssml: false, lang: "en-US", prosody: normalProsody };
const atRate = (rate: number) => ({ ...manner, prosody: { ...normalProsody, rate } });
/** 350 letters. */
const text = "The quick brown fox jumps over the lazy dog. ".repeat(10);

describe("The minimum duration of a text", () => {
  it("follows from 35 letters a second", () => {
    expect(minDuration(text, manner)).to.equal(10);
  });

  it("is shorter at a higher rate, and no longer at a lower one, which not every server applies", () => {
    expect(minDuration(text, atRate(2))).to.equal(5);
    expect(minDuration(text, atRate(0.5))).to.equal(10);
  });

  for (const [what, said, changed] of [
    ["a text of fewer than 100 letters", "The quick brown fox. ".repeat(6), {}],
    ["an SSML document, which may change its rate", `<speak>${text}</speak>`, { ssml: true }],
    ["a text with instructions", text, { instructions: "Read only the first sentence." }],
    ["digits, signs and punctuation", "1,234.56 € — 78/90! ".repeat(50), {}],
    ["letters of a script that the language does not use", text, { lang: "ru" }],
    [
      "a script that is not an alphabet",
      "他昨天坐火车去了牛津，然后又回来了。".repeat(50),
      { lang: "zh-CN" },
    ],
    ["an invalid language", text, { lang: "!" }],
    ["one long word", "abcdefghij".repeat(100), {}],
    ["a repeated letter", `${"a".repeat(14)} `.repeat(40), {}],
    ["targets of Markdown links", "[a](/the/quick/brown/fox 'jumps over') ".repeat(20), {}],
    ["HTML tags", '<p class="quick brown fox"><!-- jumps over -->1</p>\n'.repeat(20), {}],
    ["URLs", "https://quick.example/brown?fox=jumps www.over.example/the/lazy/dog ".repeat(20), {}],
    ["a code block", `\`\`\`ts\n${text}\n\`\`\``, {}],
    ["a text with the fence of only one end of a code block", `${text}\n~~~\n${text}`, {}],
  ] as const) {
    it(`is unknown for ${what}`, () => {
      expect(minDuration(said, { ...manner, ...changed })).to.equal(0);
    });
  }

  it("counts the text around code, tags, URLs and the targets of links", () => {
    const said = text.replaceAll("fox", "[fox](https://fox.example/a-page)").replaceAll("dog", "<b>dog</b>");
    expect(minDuration(`${said}\n\`\`\`\n${text}\`\`\`\nhttps://dog.example/`, manner)).to.equal(10);
    expect(minDuration(`a < b, (c > d), [e] and f: ${text}`, manner)).to.be.above(10);
  });

  it("counts the letters of Cyrillic and Greek for their languages", () => {
    expect(minDuration("Привет, мир и люди! ".repeat(25), { ...manner, lang: "ru-RU" })).to.equal(10);
    expect(minDuration("Καλημέρα κόσμε. ".repeat(35), { ...manner, lang: "el" })).to.be.closeTo(13, 0.1);
  });

  it("refuses audio that is shorter, with both durations", () => {
    expect(() => requireDuration(10, 10)).not.to.throw();
    expect(() => requireDuration(3.21, 10)).to.throw(
      EngineFailed,
      "The audio lasts 3.2 s, but its text takes at least 10.0 s: parts of it are missing.",
    );
  });
});
