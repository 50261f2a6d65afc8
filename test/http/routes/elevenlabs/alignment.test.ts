import { expect } from "chai";
import fc from "fast-check";
import type { Mark } from "../../../../src/domain/synthesis/marks.ts";
import { alignCharacters } from "../../../../src/http/routes/elevenlabs/alignment.ts";

const word = (time: number, start: number, value: string): Mark => ({
  ...{ time, type: "word", start },
  end: start + [...value].length,
});

const plain = (text: string) => ({ text, ssml: false });

describe("The alignment of characters", () => {
  it("starts each word at its mark and ends with the audio", () => {
    const marks: Mark[] = [
      { time: 50, type: "sentence", start: 0, end: 12 },
      word(50, 0, "Hello"),
      word(400, 6, "world"),
    ];
    const {
      characters,
      character_start_times_seconds: starts,
      character_end_times_seconds: ends,
    } = alignCharacters(plain("Hello world."), marks, 1.2);
    expect(characters.join("")).to.equal("Hello world.");
    expect([starts[0], starts[6], ends[11]]).to.deep.equal([0.05, 0.4, 1.2]);
    expect(ends.slice(0, -1)).to.deep.equal(starts.slice(1));
    // The five letters take equal time, the blank less.
    expect((ends[0] ?? 0) - (starts[0] ?? 0)).to.be.closeTo((ends[4] ?? 0) - (starts[4] ?? 0), 0.002);
    expect((ends[5] ?? 0) - (starts[5] ?? 0)).to.be.below((ends[4] ?? 0) - (starts[4] ?? 0));
  });

  it("starts each sentence at its mark where no words are known", () => {
    const marks: Mark[] = [
      { time: 0, type: "sentence", start: 0, end: 4 },
      { time: 700, type: "sentence", start: 5, end: 9 },
    ];
    const { character_start_times_seconds: starts } = alignCharacters(plain("One. Two."), marks, 1.5);
    expect([starts[0], starts[5]]).to.deep.equal([0, 0.7]);
  });

  it("counts characters in code points, as marks do", () => {
    const { characters, character_start_times_seconds: starts } = alignCharacters(
      plain("\u{1F600} yes"),
      [word(900, 2, "yes")],
      1.5,
    );
    expect(characters).to.deep.equal(["\u{1F600}", " ", "y", "e", "s"]);
    expect([starts[0], starts[2]]).to.deep.equal([0, 0.9]);
  });

  it("gives no time to markup", () => {
    const text = "<speak>One</speak>";
    const { character_start_times_seconds: starts, character_end_times_seconds: ends } = alignCharacters(
      { text, ssml: true },
      [word(100, 7, "One")],
      0.7,
    );
    expect(starts[7]).to.equal(0.1);
    expect(ends[9]).to.equal(0.7);
    expect([...starts.slice(10), ...ends.slice(10)].every((time) => time === 0.7)).to.equal(true);
  });

  it("gives a break its time, not the letters of the word before it", () => {
    const text = '<speak>One <break time="1.5s"/>two<break strength="strong"/></speak>';
    const start = text.indexOf("<break");
    const two = text.indexOf("two");
    const { character_start_times_seconds: starts, character_end_times_seconds: ends } = alignCharacters(
      { text, ssml: true },
      [word(100, 7, "One"), word(2000, two, "two")],
      2.9,
    );
    expect(starts[start]).to.be.closeTo(0.5, 0.002);
    expect(ends[start]).to.equal(2);
    expect(ends[two - 1]).to.equal(2);
    const strong = text.indexOf("<break", two);
    expect((ends[strong] ?? 0) - (starts[strong] ?? 0)).to.be.closeTo(0.4, 0.002);
  });

  it("leaves a word some of its time if the voice pauses for less than its break says", () => {
    const text = "<speak>One <break time='5000ms'/> two</speak>";
    const start = text.indexOf("<break");
    const { character_start_times_seconds: starts, character_end_times_seconds: ends } = alignCharacters(
      { text, ssml: true },
      [word(0, 7, "One"), word(1000, text.indexOf("two"), "two")],
      1.5,
    );
    expect(starts[start]).to.be.within(0.05, 0.2);
    expect(ends[start]).to.be.closeTo(starts[start + 19] ?? 0, 0.1);
    expect(ends.every((end, at) => end >= (starts[at] ?? 0))).to.equal(true);
  });

  it("gives a break before the first word its time", () => {
    const text = '<speak><break time="2s"/>One</speak>';
    const { character_end_times_seconds: ends } = alignCharacters(
      { text, ssml: true },
      [word(2000, text.indexOf("One"), "One")],
      2.5,
    );
    expect(ends[text.indexOf("<break")]).to.equal(2);
  });

  it("is monotonic, complete and within the audio for any marks", () => {
    const anyMark = fc.record({ time: fc.nat(5000), start: fc.nat(40), length: fc.nat(5) });
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" }),
        fc.array(anyMark),
        fc.nat(4000),
        fc.boolean(),
        (text, given, soundMs, ssml) => {
          const marks = given.map(({ time, start, length }) => word(time, start, "x".repeat(length)));
          const {
            characters,
            character_start_times_seconds: starts,
            character_end_times_seconds: ends,
          } = alignCharacters({ text, ssml }, marks, soundMs / 1000);
          expect(characters).to.deep.equal([...text]);
          expect([starts.length, ends.length]).to.deep.equal([characters.length, characters.length]);
          const all = [0, ...starts, ...ends.slice(-1)];
          expect(all).to.deep.equal(all.toSorted((a, b) => a - b));
          expect(ends.at(-1)).to.equal(soundMs / 1000);
        },
      ),
    );
  });
});
