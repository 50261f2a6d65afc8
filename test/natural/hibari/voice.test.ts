import { expect } from "chai";
import type { HibariModel } from "../../../src/natural/hibari/model.ts";
import { createHibariVoice } from "../../../src/natural/hibari/voice.ts";
import type { SpokenSentence } from "../../../src/natural/phonemes.ts";
import type { VoiceEvent } from "../../../src/natural/speak-sentences.ts";

const vocabulary = { " ": 16, a: 43, b: 44, ",": 3, ".": 4, ˈ: 156 };

/** The frames of each symbol, and of the pauses at both ends. */
const framesPerSymbol = 2;
const framesOfLead = 6;

const fakeModel = () => {
  const runs: { ids: readonly number[]; speed: number }[] = [];
  const model: HibariModel = {
    run: async (ids, speed) => {
      runs.push({ ids, speed });
      const frames = framesPerSymbol * (ids.length + 2);
      const silence = new Float32Array(601 * frames).fill(-100);
      return {
        ...{ lh: silence, theta: silence, ln: silence, lr: silence, phi: silence },
        f0: new Float32Array(frames),
        lead: framesOfLead,
        frames: ids.map(() => framesPerSymbol),
      };
    },
    close: async () => {},
  };
  return { model, runs };
};

const speak = async (sentences: readonly SpokenSentence[]) => {
  const { model, runs } = fakeModel();
  const voice = createHibariVoice({ model, frontEnd: { read: async () => sentences }, vocabulary });
  const events: VoiceEvent[] = [];
  let samples = 0;
  for await (const { length } of voice.speak({ text: "text", speed: 1.5, pitch: 1 }, (one) =>
    events.push(one),
  )) {
    samples += length;
  }
  return { runs, events, samples };
};

const word = (phonemes: string, position = 0) => ({ phonemes, position, length: 2 });

describe("A voice of hibari", () => {
  it("speaks each sentence by itself, at the speed that is asked for", async () => {
    const { runs, samples } = await speak([[word("a ")], [word("ˈb.")]]);
    expect(runs).to.deep.equal([
      { ids: [43, 16], speed: 1.5 },
      { ids: [156, 44, 4], speed: 1.5 },
    ]);
    expect(samples).to.equal(300 * framesPerSymbol * (4 + 5));
  });

  it("reports where sentences, words and phonemes begin, before the durations of the model say so", async () => {
    const { events } = await speak([[word("ˈab ", 5), word("b.", 8)], [word("a", 11)]]);
    const late = 600 + 1200 / 1.5;
    const at = (symbols: number) => 300 * (framesOfLead + framesPerSymbol * symbols) - late;
    const second = 300 * framesPerSymbol * 8;
    expect(events).to.deep.equal([
      { kind: "sentence", position: 5, length: 0, sample: 0 },
      { kind: "word", position: 5, length: 2, sample: at(0) },
      { kind: "phoneme", position: 5, length: 2, sample: at(1), value: "a" },
      { kind: "phoneme", position: 5, length: 2, sample: at(2), value: "b" },
      { kind: "word", position: 8, length: 2, sample: at(4) },
      { kind: "phoneme", position: 8, length: 2, sample: at(4), value: "b" },
      { kind: "sentence", position: 11, length: 0, sample: second },
      { kind: "word", position: 11, length: 2, sample: second + at(0) },
      { kind: "phoneme", position: 11, length: 2, sample: second + at(0), value: "a" },
    ]);
  });

  it("reports no word for punctuation", async () => {
    const { events } = await speak([[word("a "), { phonemes: ",", position: 3, length: 0 }]]);
    expect(events.filter(({ kind }) => kind === "word")).to.have.length(1);
  });

  it("skips symbols that the model does not have, and sentences without any", async () => {
    const { runs } = await speak([[word("a?")], [word("?")], []]);
    expect(runs.map(({ ids }) => ids)).to.deep.equal([[43]]);
  });

  it("divides a long sentence after its last clause that fits, or after a word", async () => {
    const clause = [...Array.from({ length: 20 }, () => word("aaaaaa ")), word("b, ")];
    const { runs } = await speak([[...clause, ...clause]]);
    expect(runs.map(({ ids }) => ids.length)).to.deep.equal([143, 143]);
    const words = await speak([Array.from({ length: 60 }, () => word("aaaaaa "))]);
    expect(words.runs.map(({ ids }) => ids.length)).to.deep.equal([196, 196, 28]);
  });

  it("divides a word of any length, and leaves out none of it", async () => {
    const { runs } = await speak([[word("a".repeat(1000))]]);
    expect(runs.map(({ ids }) => ids.length)).to.deep.equal([200, 200, 200, 200, 200]);
  });
});
