import { expect } from "chai";
import { symbolsOfIpa } from "../../../src/natural/english/ipa.ts";

describe("Pronunciations in IPA", () => {
  it("become the symbols of the model, with the stress before the vowel", () => {
    expect(symbolsOfIpa("təˈmɑːtəʊ", "gb")).to.equal("təmˈɑːtQ");
    expect(symbolsOfIpa("təˈmeɪˌtoʊ", "us")).to.equal("təmˈAtˌO");
    expect(symbolsOfIpa("ˈt͡ʃɝt͡ʃ", "us")).to.equal("ʧˈɜɹʧ");
    expect(symbolsOfIpa("ˈbʌtɚ ˈnaɪf", "us")).to.equal("bˈʌtəɹ nˈIf");
  });

  it("are stressed on the first vowel if they have no stress", () => {
    expect(symbolsOfIpa("kwɪnəʊə", "gb")).to.equal("kwˈɪnQə");
  });

  it("have no symbols if they contain a sound that English does not have", () => {
    expect(symbolsOfIpa("ʁø", "us")).to.equal(undefined);
    expect(symbolsOfIpa("", "us")).to.equal(undefined);
    expect(symbolsOfIpa("12", "gb")).to.equal(undefined);
  });
});
