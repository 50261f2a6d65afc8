import { expect } from "chai";
import { createMarksWithPhonemes } from "../../../src/application/synthesis/marks-with-phonemes.ts";
import { audioOf } from "../../../src/audio/pipeline/audio.ts";
import { formatMarks } from "../../../src/domain/synthesis/marks.ts";
import { renditionOf } from "../../audio/pipeline/renditions.ts";
import { objectOf } from "../../audio/pipeline/sounds.ts";

describe("The marks of audio with phonemes", () => {
  let timesSpoken = 0;
  const marksWithPhonemes = createMarksWithPhonemes({
    getAudio: async () => objectOf(formatMarks([{ time: 0, type: "word", start: 0, end: 2 }])),
    phonemes: async () => {
      timesSpoken += 1;
      return [{ time: 50, start: 0, end: 2, value: "h" }];
    },
  });
  const typesOf = async (hasMarks: boolean): Promise<string[]> => {
    timesSpoken = 0;
    const audio = audioOf({ ...renditionOf("Hi."), hasMarks }, objectOf(Buffer.from("audio")), "miss");
    const wanted = { apiKey: "k", onBegin: () => {} };
    const lines = await marksWithPhonemes(audio, wanted, new AbortController().signal);
    return lines
      .toString()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line).type);
  };

  it("have the stored marks, and the phonemes of a voice that speaks again", async () => {
    expect(await typesOf(true)).to.deep.equal(["word", "phoneme", "viseme"]);
    expect(timesSpoken).to.equal(1);
  });

  it("are empty for a fallback that reports nothing, which does not speak again", async () => {
    expect(await typesOf(false)).to.deep.equal([]);
    expect(timesSpoken).to.equal(0);
  });
});
