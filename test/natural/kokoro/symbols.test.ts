import { expect } from "chai";
import { kokoroSymbols } from "../../../src/natural/kokoro/symbols.ts";

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
});
