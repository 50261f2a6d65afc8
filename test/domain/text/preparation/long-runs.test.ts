import { expect } from "chai";
import { unchanged } from "../../../../src/domain/text/mapped-text.ts";
import { breakLongRuns } from "../../../../src/domain/text/preparation/long-runs.ts";

const broken = (text: string, lang = "en-US"): string =>
  breakLongRuns(unchanged(text), { lang, tool: "espeak" }).text;

describe("Breaking long runs for espeak-ng", () => {
  it("leaves ordinary texts of all scripts as they are", () => {
    const texts: [lang: string, text: string][] = [
      ["en-US", "The U.S.A. and the U.S.S.R. met, e.g., at https://example.com/a-b-c/d_e_f?g=h&i=j#klm!"],
      [
        "en-US",
        "Yes yes yes. No, no, no! Ha ha ha ha ha. I, I, I am: A A A. 1.2.3.4 or 192.168.100.200 \u{1F642}\u{1F642}",
      ],
      [
        "de-DE",
        "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz, Angstschweiß, z.B. und d.h.",
      ],
      ["cy-GB", "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"],
      ["ru-RU", "Превысокомногорассмотрительствующий человек взгрустнул."],
      ["ko-KR", "안녕하세요. 한국표준과학연구원장입니다."],
      ["hi-IN", "भारत एक देश है। विश्वविद्यालय।"],
      ["fi-FI", "lentokonesuihkuturbiinimoottoriapumekaanikkoaliupseerioppilas"],
    ];
    for (const [lang, text] of texts) expect(broken(text, lang)).to.equal(text);
  });

  it("changes nothing for other tools", () => {
    const text = unchanged("A.".repeat(85));
    expect(breakLongRuns(text, { lang: "en-US", tool: "flite" })).to.equal(text);
    expect(breakLongRuns(text, { lang: "en-US", tool: "sherpa" })).to.equal(text);
  });

  it("only adds blanks to words, numbers and signs, and leaves no part too large", () => {
    const runs = ["s'", "あ", "한", "ab", "𐐀", "W", "7", "→", "👨‍👩‍👧‍👦", "1.", "é", "क्षि"];
    for (const unit of runs) {
      const run = unit.repeat(300);
      const text = broken(run);
      expect(text.replaceAll(" ", ""), unit).to.equal(run);
      for (const part of text.split(" ")) {
        expect(Buffer.byteLength(part.normalize("NFD")), unit).to.be.at.most(130);
        expect(part, unit).to.not.match(/^(?:\p{M}|\u200d|\ufe0f)/u);
      }
    }
  });

  it("divides a text without blanks between its words", () => {
    const text =
      "わたしはきのうともだちといっしょにえいがをみにいきましたそのあとでおいしいラーメンをたべました";
    const words = Array.from(
      new Intl.Segmenter("ja", { granularity: "word" }).segment(text),
      ({ index }) => index,
    );
    const parts = broken(text, "ja-JP").split(" ");
    expect(parts).to.have.length.above(1);
    let at = 0;
    for (const part of parts) {
      expect(words).to.include(at);
      at += part.length;
    }
  });

  it("spells a long run of letters with full stops", () => {
    expect(broken("A.B.C.D.E.F.G.H.I.J.")).to.equal("A B C D E F G H I J.");
  });

  it("adds a comma after each third of equal letters, of which no more would be spoken", () => {
    expect(broken("x x x x x x x")).to.equal("x x x, x x x, x");
    expect(broken("I x x x see")).to.equal("I x x x see");
  });

  it("maps each character to its own place", () => {
    const mapped = breakLongRuns(unchanged(`${"あ".repeat(50)} b`), { lang: "ja-JP", tool: "espeak" });
    expect(mapped.from[mapped.text.indexOf("b")]).to.equal(51);
    const kana = Array.from(mapped.text).flatMap((sign, at) => (sign === "あ" ? [mapped.from[at]] : []));
    expect(kana).to.deep.equal(Array.from({ length: 50 }, (_, at) => at));
  });
});
