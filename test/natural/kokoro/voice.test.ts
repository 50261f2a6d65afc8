import { expect } from "chai";
import type { PronouncedWords } from "../../../src/domain/text/pronounced-text.ts";
import type { KokoroModel } from "../../../src/natural/kokoro/model.ts";
import { createKokoro, type KokoroText } from "../../../src/natural/kokoro/voice.ts";
import type { FrontEnd, SpokenSentence } from "../../../src/natural/phonemes.ts";
import type { VoiceEvent } from "../../../src/natural/speak-sentences.ts";

const vocabulary = { " ": 16, a: 43, b: 44 };
const styleLength = 256;
const frameSamples = 600;

/** Each symbol takes two frames, and the pauses at both ends one. */
const fakeModel = () => {
  const runs: {
    ids: readonly number[];
    style: number | undefined;
    length: number;
    speed: number;
    pitch: number;
  }[] = [];
  const model: KokoroModel = {
    run: async (ids, { style, ...manner }) => {
      runs.push({ ids, style: style[0], length: style.length, ...manner });
      const audio = new Float32Array(frameSamples * (2 * ids.length + 2)).fill(1.5);
      return { audio, lead: 1, frames: ids.map(() => 2) };
    },
    close: async () => {},
  };
  return { model, runs };
};

describe("A voice of Kokoro", () => {
  const given: readonly PronouncedWords[] = [{ start: 0, end: 4, ipa: "a" }];
  const speak = async (sentences: readonly SpokenSentence[], more: Partial<KokoroText> = {}) => {
    const { model, runs } = fakeModel();
    const styles = Float32Array.from({ length: 510 * styleLength }, (_, at) => Math.floor(at / styleLength));
    const asked: Parameters<FrontEnd["read"]>[] = [];
    const read: FrontEnd["read"] = async (...one) => {
      asked.push(one);
      return sentences;
    };
    const events: VoiceEvent[] = [];
    const chunks: Int16Array[] = [];
    const order = { text: "text", frontEnd: { read }, styles, speed: 1.5, pitch: 0.8, gain: 1, ...more };
    for await (const chunk of createKokoro({ model, vocabulary })(order, (one) => events.push(one)))
      chunks.push(chunk);
    return { runs, events, chunks, asked };
  };

  it("has another style for each number of symbols, as it was trained", async () => {
    const { runs } = await speak([
      [{ phonemes: "ab ", position: 0, length: 2 }],
      [{ phonemes: "a", position: 3, length: 1 }],
    ]);
    expect(runs).to.deep.equal([
      { ids: [43, 44, 16], style: 2, length: styleLength, speed: 1.5, pitch: 0.8 },
      { ids: [43], style: 0, length: styleLength, speed: 1.5, pitch: 0.8 },
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
  });

  it("has its gain before samples become integers, and peaks that are compressed instead of clipped", async () => {
    const peaks: number[] = [];
    for (const gain of [0, 0.25, 0.4, 0.4001, 1, 4, -4]) {
      const { chunks } = await speak([[{ phonemes: "a", position: 0, length: 1 }]], { gain });
      peaks.push((chunks[0]?.[0] ?? 0) / 32_767);
    }
    expect(peaks.slice(0, 3)).to.deep.equal([0, 12_288 / 32_767, 19_660 / 32_767]);
    expect(peaks[3]).to.be.closeTo(0.4001 * 1.5, 1e-4);
    expect(peaks[4]).to.be.within(0.7, 0.89);
    expect(peaks[5]).to.be.within(peaks[4] ?? 1, 0.89);
    expect(peaks[6]).to.equal(-(peaks[5] ?? 0));
  });

  it("speaks words with the pronunciation that is given for them", async () => {
    const { asked } = await speak([[{ phonemes: "a", position: 0, length: 1 }]], { pronounced: given });
    expect(asked).to.deep.equal([["text", given]]);
  });
});
