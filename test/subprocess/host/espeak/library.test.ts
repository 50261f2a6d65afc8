import { expect } from "chai";
import { openEspeakLibrary } from "../../../../src/subprocess/host/espeak/library.ts";

describe("The library of espeak-ng", () => {
  const request = { text: "One.", ssml: false, voice: "gmw/en-US", rate: 175, pitch: 50, volume: 100 };
  const openWithStatus = (status: number) =>
    openEspeakLibrary(() => ({
      seedRandom: () => undefined,
      clearStack: () => undefined,
      info: () => "1.51 Data at: /usr/lib/espeak-ng-data",
      sampleRate: () => 22_050,
      setVoice: () => 0,
      setParameter: () => 0,
      synthesize: () => status,
      phonemes: () => "",
      reset: () => undefined,
      close: () => undefined,
    }));

  it("fails a text that the library refuses, instead of taking it for silent", () => {
    const refuse = openWithStatus(-1); // EE_INTERNAL_ERROR
    expect(() => refuse.speak(request, () => undefined)).to.throw("did not speak the text (status -1)");
  });

  it("takes a text without samples for silent if the library has spoken it", () => {
    expect(openWithStatus(0).speak(request, () => undefined)).to.deep.equal([]);
  });
});
