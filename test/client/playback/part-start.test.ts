import { expect } from "chai";
import type { Boundary } from "../../../src/client/playback/boundaries.ts";
import { partStart, partsFrom } from "../../../src/client/playback/part-start.ts";
import type { SpokenPart } from "../../../src/client/playback/speech-backend.ts";

const text = "The train leaves. It is late.";
const word = (charIndex: number, elapsedTime: number): Boundary => ({
  name: "word",
  ...{ charIndex, charLength: 3, elapsedTime },
});
const voice = { voice: "UK English Female", lang: undefined, prosody: { pitch: 1, rate: 1, volume: 1 } };
const parts: SpokenPart[] = ["First part.", "Second part.", "Third part."].map((text, index) => ({
  part: { index, charIndex: index * 20, text },
  voice,
}));

describe("the start of a part", () => {
  it("is the time of the word at the place, if the times of words are known", () => {
    const known = [word(0, 0), word(4, 0.25), word(10, 0.6), word(18, 1.5)];
    const { startTime, boundaries } = partStart({ index: 0, charIndex: 0, text, startAt: 12 }, known);
    expect(startTime(3)).to.equal(0.6);
    expect(boundaries.map(({ charIndex }) => charIndex)).to.deep.equal([10, 18]);
  });

  it("is a little before its sentence, as estimated from the text, if they are unknown", () => {
    const part = { index: 0, charIndex: 0, text, startAt: 24 };
    expect(partStart(part, []).startTime(2.9)).to.be.closeTo(1.8 - 0.3, 1e-9);
    expect(partStart({ ...part, startAt: 6 }, []).startTime(2.9)).to.equal(0);
  });
});

describe("the parts from a place on", () => {
  it("begin within the part that contains the place", () => {
    const [first, ...others] = partsFrom(parts, 27);
    expect(first?.part).to.deep.include({ index: 1, startAt: 7 });
    expect(others).to.deep.equal([parts[2]]);
  });

  it("are all of them at the beginning, and the last one beyond the end", () => {
    expect(partsFrom(parts, 0)).to.deep.equal(parts);
    expect(partsFrom(parts, 20)).to.deep.equal(parts.slice(1));
    expect(partsFrom(parts, 1_000).map(({ part }) => part.startAt)).to.deep.equal([10]);
    expect(partsFrom([], 5)).to.deep.equal([]);
  });
});
