import { expect } from "chai";
import { languagesOf } from "../../../src/client/voices/text-language.ts";

const german = "Der Zug hat die Stadt am Abend verlassen und das Meer am Morgen erreicht.";
const english = "The train has left the town in the evening, and it was at the sea in the morning.";
const arabic = "غادر القطار المدينة في المساء.";

describe("the language of a text on a page", () => {
  const cases: readonly (readonly [
    rule: string,
    text: string,
    lang: string | undefined,
    expected?: string,
  ])[] = [
    ["is the declared one", german, "de-AT", "de-AT"],
    ["is written with hyphens", english, "en_GB", "en-GB"],
    ["is unknown for an English text without a declaration", english, undefined],
    ["is decided by words without a declaration", german, undefined, "de"],
    ["is decided by words if English is declared", german, "en-US", "de"],
    ["is not decided by words if another language is declared", german, "nl", "nl"],
    ["is decided by script if the declared one has another", arabic, "de", "ar"],
    ["is decided by script and letters", "این یک متن فارسی است که اینجا نوشته شده.", "en", "fa"],
    ["is English for such words in a language of another script", english, "ar", "en"],
    ["is the declared one if most letters are of its script", `${english} ${arabic}`, "en", "en"],
    ["may be written in several scripts", "Voz je uveče napustio grad i ujutru stigao.", "sr", "sr"],
    ["may have several scripts", "電車は夕方に町を出た。", "ja", "ja"],
    ["is unknown if the declaration is no language tag", english, "not a language"],
    ["is the declared one for a text without letters", "1984", "ar", "ar"],
    ["is the declared one for a name", "Anna Berger", "en", "en"],
  ];
  for (const [rule, text, lang, expected] of cases) {
    it(`${rule}: ${JSON.stringify(text.slice(0, 30))} in ${lang}`, async () => {
      expect(await languagesOf([{ text, lang }])).to.deep.equal([expected]);
    });
  }

  it("is that of most of the texts for one that is too short to decide", async () => {
    const texts = ["Die Ankunft", german, german].map((text) => ({ text, lang: "en" }));
    expect(await languagesOf(texts)).to.deep.equal(["de", "de", "de"]);
    const mixed = ["The arrival", english, english, german].map((text) => ({ text, lang: "en" }));
    expect(await languagesOf(mixed)).to.deep.equal(["en", "en", "en", "de"]);
  });
});
