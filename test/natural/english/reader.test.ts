import { expect } from "chai";
import type { FrontEnd } from "../../../src/natural/phonemes.ts";
import { needsEnglishData, openEnglish } from "./installed.ts";

describe("The English front end", () => {
  let us: FrontEnd;
  let gb: FrontEnd;

  before(async function () {
    needsEnglishData(this);
    [us, gb] = await Promise.all([openEnglish("us"), openEnglish("gb")]);
  });

  const read = async (text: string, frontEnd = us): Promise<string> => {
    const sentences = await frontEnd.read(text);
    return sentences.map((sentence) => sentence.map(({ phonemes }) => phonemes).join("")).join("|");
  };

  it("pronounces words by their part of speech", async () => {
    expect(await read("They record a record.")).to.equal("ðˌA ɹəkˈɔɹd ɐ ɹˈɛkəɹd.");
    expect(await read("We live near a live wire.")).to.equal("wˌi lˈɪv nˌɪɹ ɐ lˈIv wˈIəɹ.");
  });

  it("pronounces function words by the sound that follows them", async () => {
    expect(await read("the end, the start")).to.equal("ði ˈɛnd, ðə stˈɑɹt");
    expect(await read("to act, to stop")).to.equal("tʊ ˈækt, tə stˈɑp");
  });

  it("pronounces inflected forms by their stems", async () => {
    expect(await read("blogged vlogs")).to.equal("blˈɑɡd vlˈɑɡz");
  });

  it("says the names of signs as words, also those that no dictionary lists", async () => {
    expect(await read("€ °")).to.equal("jˈʊɹOz dəɡɹˈiz");
  });

  it("says numbers in words as those in digits", async () => {
    for (const [words, digits] of [
      ["twenty-one point three percent", "21.3%"],
      ["ninety-nine of seventy-eight", "99 of 78"],
      ["the thirty-first", "the 31st"],
    ] as const)
      expect(await read(words)).to.equal(await read(digits));
    expect(await read("mid-nineteen sixties")).to.match(/^mˈɪd nˌIntˈin /);
    expect(await read("the point nine people made")).to.include("pˈYnt");
  });

  it("says an initial as a letter, without a pause", async () => {
    expect(await read("Ronald A. Shaw met J. R. Smith.")).to.equal("ɹˈOnᵊld ˈA ʃˈɔ mˈɛt ʤˈA ˈɑɹ smˈɪθ.");
  });

  it("reads formulas letter by letter, and ends a sentence at the full stop of an abbreviation", async () => {
    expect(await read("B2B is H2O.")).to.equal("bˈitə bˈi ɪz ˈAʧ tˈu ˈO.");
    expect(await read("We left the U.S.A.")).to.match(/[^.]\.$/);
  });

  it("keeps the blank after signs without a sound", async () => {
    expect(await read("at least** the")).to.equal(await read("at least the"));
  });

  it("has a British accent", async () => {
    expect(await read("Hello there.", gb)).to.equal("həlˈQ ðˈɛː.");
  });

  it("reads words that no dictionary has, also those longer than its network takes", async () => {
    expect(await read("quaxillary")).to.match(/^kwˈæks/);
    const long = await read("flurbozinatradiculexiomatorpentifluvorandazipoketrumblish");
    expect(long.length).to.be.above(50);
  });

  it("reads curly apostrophes as straight ones", async () => {
    expect(await read("the ship’s crew doesn’t")).to.equal(await read("the ship's crew doesn't"));
  });

  it("says the pronunciation that a document gives, between words with their own context", async () => {
    const text = "The tomato is red.";
    const given = [{ start: 4, end: 10, ipa: "əˈmɑːtoʊ" }];
    const [sentence] = await us.read(text, given);
    expect(sentence?.map(({ phonemes }) => phonemes).join("")).to.equal("ði əmˈɑtO ɪz ɹˈɛd.");
  });

  it("says a pronunciation once, also if its words look like the end of a sentence", async () => {
    const text = "See Dr. No. Really good.";
    const sentences = await us.read(text, [{ start: 4, end: 18, ipa: "fuː" }]);
    const phonemes = sentences.map((sentence) => sentence.map((word) => word.phonemes).join(""));
    expect(phonemes).to.deep.equal(["sˈi fˈu ɡˈʊd."]);
  });

  it("reads words as they are written whose pronunciation has sounds that English lacks", async () => {
    const [sentence] = await us.read("tomato", [{ start: 0, end: 6, ipa: "ʁø" }]);
    expect(sentence?.map(({ phonemes }) => phonemes).join("")).to.equal(await read("tomato"));
  });

  it("reports the places of words in code points, and no word for punctuation", async () => {
    const text = "𝄞 It isn't so, well-known “truth”.";
    const sentences = await us.read(text);
    const characters = Array.from(text);
    const words = sentences
      .flat()
      .filter(({ length }) => length > 0)
      .map(({ position, length }) => characters.slice(position, position + length).join(""));
    expect(words.filter((word) => /\w/.test(word))).to.deep.equal([
      "It",
      "isn't",
      "so",
      "well-known",
      "truth",
    ]);
  });

  it("divides sentences", async () => {
    expect(await us.read("One is here. Two are there.")).to.have.length(2);
  });

  it("has no sentence for a text without words", async () => {
    expect(await us.read(" … ")).to.deep.equal([]);
    expect(await us.read("")).to.deep.equal([]);
  });

  it("reads the longest pieces without blanks in bounded time", async () => {
    for (const text of ["(".repeat(5_000), "a-".repeat(5_000), "x.".repeat(5_000), "1,".repeat(5_000)]) {
      await us.read(text);
    }
  });
});
