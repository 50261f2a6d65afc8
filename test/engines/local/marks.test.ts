import { expect } from "chai";
import { localEngines } from "../../../src/engines/local/engine.ts";
import type { SubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { openToolHost } from "../../support/tool-host.ts";
import { medianOf, sentenceOf, wordsByVoice, wordTimingErrors } from "../../support/word-onsets.ts";

describe("The marks of espeak-ng", () => {
  let host: SubprocessHost;
  before(async () => {
    host = await openToolHost();
  });
  after(() => host.close());

  it("are within 30 ms of the words' beginnings by the sound's energy, in ten languages", async () => {
    const [engine] = await localEngines({ host });
    if (!engine) throw new Error("espeak-ng is not installed");
    for (const [voice, words] of Object.entries(wordsByVoice)) {
      const errors = (await wordTimingErrors(engine, voice, sentenceOf(words, 0))).map(Math.abs);
      expect(medianOf(errors), voice).to.be.at.most(30);
    }
  });

  it("are reported by the library only", async () => {
    const command = await openToolHost({ speakers: 0 });
    try {
      const [byLibrary] = await localEngines({ host });
      const [byCommand] = await localEngines({ host: command });
      const voices = ["espeak:gmw/en", "flite:slt"];
      expect(voices.map((voice) => byLibrary?.marks?.(voice))).to.deep.equal([true, false]);
      expect(voices.map((voice) => byCommand?.marks?.(voice))).to.deep.equal([false, false]);
    } finally {
      await command.close();
    }
  });
});
