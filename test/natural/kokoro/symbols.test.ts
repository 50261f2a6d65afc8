import { expect } from "chai";
import { kokoroSymbols, symbolsOfIpa } from "../../../src/natural/kokoro/symbols.ts";

describe("The symbols of Kokoro", () => {
  it("are one letter for diphthongs and affricates, whose parts espeak-ng ties", () => {
    expect(kokoroSymbols("mˈut^ʃo bˈe^ɪnte")).to.equal("mˈuʧo bˈAnte");
    expect(kokoroSymbols("pˈit^sa ʤˈɔ^ɪa")).to.equal("pˈiʦa ʤˈYa");
  });

  it("are the phonemes themselves without their ties and hyphens, nasal vowels included", () => {
    expect(kokoroSymbols("bɔ\u0303-ʒˈuʁ")).to.equal("bɔ\u0303ʒˈuʁ");
    expect(kokoroSymbols("ˈa^i")).to.equal("ˈai");
  });

  it("do not include the names of languages, between which espeak-ng puts foreign words", () => {
    expect(kokoroSymbols("lə (en)wˈiːkɛnd(fr)")).to.equal("lə wˈiːkɛnd");
    expect(kokoroSymbols("(en-us)hˈɛloʊ(pt-br)")).to.equal("hˈɛloʊ");
  });

  const vocabulary = Object.fromEntries(
    [..."AʣʤʦʧYabdeijklmnorstuɔɡɾʁçøœˈˌː \u0303,"].map((one) => [one, 1]),
  );
  const ofIpa = (ipa: string) => symbolsOfIpa(ipa, vocabulary);

  it("of a pronunciation that is given have the stress before the vowel, and one letter for tied sounds", () => {
    expect(ofIpa("ˈmu.t͡ʃo")).to.equal("mˈuʧo");
    expect(ofIpa("ˈmu.tʃo")).to.equal("mˈuʧo");
    expect(ofIpa("'beɪnte")).to.equal("bˈAnte");
    expect(ofIpa("gaˈtes")).to.equal("ɡatˈes");
  });

  it("of a pronunciation without a stress have it on the first vowel", () => {
    expect(ofIpa("kasa")).to.equal("kˈasa");
  });

  it("of a pronunciation have their signs for nasal vowels as espeak-ng does", () => {
    expect(ofIpa("bɔ̃")).to.equal("bˈɔ\u0303");
    expect(ofIpa("ã")).to.equal("ˈa\u0303");
    expect(ofIpa("ɡaʁˈsɔ̃ ça")).to.equal("ɡaʁsˈɔ\u0303 ça");
  });

  it("do not exist for a pronunciation with a sound that the model does not have", () => {
    expect(["ǃa", "kA", "a,b", "", "θa"].map(ofIpa)).to.deep.equal(Array(5).fill(undefined));
  });
});
