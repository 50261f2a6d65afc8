import { expect } from "chai";
import { pronouncedText } from "../../../src/domain/text/pronounced-text.ts";

describe("The words of a document with phonemes", () => {
  it("have the places of the pronunciations, those in X-SAMPA in IPA", () => {
    const document =
      '<speak>R&amp;D: <phoneme alphabet="ipa" ph="naɪs">Nice</phoneme>, <phoneme alphabet="x-sampa" ph="&quot;t_SE:r\\-@`">Nice</phoneme>.</speak>';
    expect(pronouncedText(document)).to.deep.equal({
      text: "R&D: Nice, Nice.",
      pronounced: [
        { start: 5, end: 9, ipa: "naɪs" },
        { start: 11, end: 15, ipa: "ˈt͡ʃɛːɹɚ" },
      ],
    });
  });
});
