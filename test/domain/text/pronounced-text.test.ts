import { expect } from "chai";
import { pronouncedText } from "../../../src/domain/text/pronounced-text.ts";

describe("The words of a document with phonemes", () => {
  it("have the places of the pronunciations in IPA", () => {
    const document =
      '<speak>R&amp;D: <phoneme alphabet="ipa" ph="naɪs">Nice</phoneme>, <phoneme alphabet="x-sampa" ph="nis">Nice</phoneme>.</speak>';
    expect(pronouncedText(document)).to.deep.equal({
      text: "R&D: Nice, Nice.",
      pronounced: [{ start: 5, end: 9, ipa: "naɪs" }],
    });
  });
});
