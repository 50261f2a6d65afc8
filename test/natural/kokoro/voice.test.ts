import { expect } from "chai";
import type { KokoroModel } from "../../../src/natural/kokoro/model.ts";
import { createKokoro } from "../../../src/natural/kokoro/voice.ts";
import type { SpokenSentence } from "../../../src/natural/phonemes.ts";
import type { VoiceEvent } from "../../../src/natural/speak-sentences.ts";

const vocabulary = { " ": 16, a: 43, b: 44 };
const styleLength = 256;
const frameSamples = 600;

/** Each symbol takes two frames, and the pauses at both ends one. */
const fakeModel = () => {
  const runs: { ids: readonly number[]; style: number | undefined; length: number; speed: number }[] = [];
  const model: KokoroModel = {
    run: async (ids, style, speed) => {
      runs.push({ ids, style: style[0], length: style.length, speed });
      const audio = new Float32Array(frameSamples * (2 * ids.length + 2)).fill(2);
      return { audio, lead: 1, frames: ids.map(() => 2) };
    },
    close: async () => {},
  };
  return { model, runs };
};

describe("A voice of Kokoro", () => {
  const speak = async (sentences: readonly SpokenSentence[]) => {
    const { model, runs } = fakeModel();
    const styles = Float32Array.from({ length: 510 * styleLength }, (_, at) => Math.floor(at / styleLength));
    const frontEnd = { read: async () => sentences };
    const events: VoiceEvent[] = [];
    const chunks: Int16Array[] = [];
    const order = { text: "text", frontEnd, styles, speed: 1.5 };
    for await (const chunk of createKokoro({ model, vocabulary })(order, (one) => events.push(one)))
      chunks.push(chunk);
    return { runs, events, chunks };
  };

  it("has another style for each number of symbols, as it was trained", async () => {
    const { runs } = await speak([
      [{ phonemes: "ab ", position: 0, length: 2 }],
      [{ phonemes: "a", position: 3, length: 1 }],
    ]);
    expect(runs).to.deep.equal([
      { ids: [43, 44, 16], style: 2, length: styleLength, speed: 1.5 },
      { ids: [43], style: 0, length: styleLength, speed: 1.5 },
    ]);
  });

  it("reports where words and phonemes begin, from the durations of the model", async () => {
    const { events, chunks } = await speak([
      [{ phonemes: "a ", position: 0, length: 1 }],
      [{ phonemes: "b", position: 2, length: 1 }],
    ]);
    const first = frameSamples * 6;
    expect(events).to.deep.equal([
      { kind: "sentence", position: 0, length: 0, sample: 0 },
      { kind: "word", position: 0, length: 1, sample: frameSamples },
      { kind: "phoneme", position: 0, length: 1, sample: frameSamples, value: "a" },
      { kind: "sentence", position: 2, length: 0, sample: first },
      { kind: "word", position: 2, length: 1, sample: first + frameSamples },
      { kind: "phoneme", position: 2, length: 1, sample: first + frameSamples, value: "b" },
    ]);
    expect(chunks.map(({ length }) => length)).to.deep.equal([first, frameSamples * 4]);
    expect(chunks[0]?.[0]).to.equal(32_767); // clipped
  });
});
