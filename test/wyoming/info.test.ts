import { expect } from "chai";
import type { VoiceCollection } from "../../src/application/catalog/filter-voices.ts";
import type { Voice } from "../../src/domain/synthesis/speech.ts";
import { createInfo } from "../../src/wyoming/info.ts";

const voice = (name: string, id: number): Voice => ({
  ...{ name, flag: "gb", gender: "f", lang: "en-GB" },
  voiceIDs: [id],
});

const collection: VoiceCollection = {
  revision: "1",
  voices: [voice("Spoken", 1), { ...voice("Old", 1), deprecated: true }, voice("Of browsers", 2)],
  systemVoices: [
    { id: 1, name: "engine voice", service: "g1", voiceName: "espeak:en" },
    { id: 2, name: "native voice" },
  ],
};

const voicesIn = (event: Buffer): string[] => {
  const data = event.subarray(event.indexOf("\n") + 1);
  return JSON.parse(data.toString()).tts[0].voices.map(({ name }: Voice) => name);
};

describe("the info event of the Wyoming protocol", () => {
  it("offers the voices that the service speaks, without deprecated ones", () => {
    const info = createInfo({ collection: () => collection }, "1.2.3");
    expect(voicesIn(info("web_1"))).to.deep.equal(["Spoken"]);
  });

  it("shows a voice that is added later", () => {
    let current = collection;
    const info = createInfo({ collection: () => current }, "1.2.3");
    info("web_1");
    current = { ...collection, revision: "2", voices: [...collection.voices, voice("New", 1)] };
    expect(voicesIn(info("web_1"))).to.deep.equal(["Spoken", "New"]);
  });
});
