import { expect } from "chai";
import { formatWithPhonemes } from "../../../src/domain/synthesis/phonemes.ts";

describe("Marks with phonemes", () => {
  it("have the words of the text, then their phonemes and visemes, in order of time", () => {
    const lines = formatWithPhonemes(
      "\u{1F642} Hi.",
      [{ time: 10, type: "word", start: 2, end: 4 }],
      [
        { time: 10, start: 2, end: 4, value: "h" },
        { time: 60, start: 2, end: 4, value: "I" },
        { time: 150, start: 2, end: 4, value: "" },
      ],
    );
    const spoken = lines.toString().trimEnd().split("\n");
    const values = spoken.map((line) => JSON.parse(line)).map(({ time, type, value }) => [time, type, value]);
    expect(values).to.deep.equal([
      [10, "word", "Hi"],
      [10, "phoneme", "h"],
      [10, "viseme", 12],
      [60, "phoneme", "I"],
      [60, "viseme", 11],
      [150, "viseme", 0],
    ]);
  });
});
