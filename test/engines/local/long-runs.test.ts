import { expect } from "chai";
import { EngineFailed, Unpronounceable } from "../../../src/domain/errors.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import type { SubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { ToolFailed } from "../../../src/subprocess/tools.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { localVoiceOf } from "../../support/same-sound.ts";
import { speakingPieces } from "../../support/speak-piece.ts";
import { openToolHost } from "../../support/tool-host.ts";

const never = new AbortController().signal;

const speak = (engine: Engine, lang: string, text: string) =>
  engine.synthesize(
    {
      text,
      ssml: text.startsWith("<speak"),
      voice: localVoiceOf(lang),
      lang,
      prosody: normalProsody,
      format: "wav",
    },
    never,
  );

describe("espeak-ng with long runs of characters", () => {
  const host = duringSuite(openToolHost);
  let engine: Engine;
  before(async () => {
    const [first] = await localEngines({ host });
    if (!first) throw new Error("No tool is installed.");
    engine = first;
  });

  const seconds = async (lang: string, text: string): Promise<number> =>
    Buffer.concat(await collect((await speak(engine, lang, text)).audio)).length / 2 / 22_050;

  const runs: [lang: string, unit: string, times: number][] = [
    ["en-US", "A.", 85],
    ["en-US", "U.S.A.", 57],
    ["en-US", "s'", 220],
    ["en-US", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.", 4],
    ["ru-RU", "я.", 200],
    ["hi-IN", "a.b.c.", 60],
    ["hi-IN", "[=²A", 100],
    ["ja-JP", "あ", 200],
    ["ko-KR", "한", 160],
    ["th-TH", "ประเทศไทย", 30],
    ["en-US", "👨‍👩‍👧‍👦", 13],
    ["en-US", "x ", 60],
    ["en-US", "WQ", 60],
    ["en-US", "1.", 80],
    ["en-US", "7", 240],
    ["en-US", "日", 120],
    ["en-US", "€", 90],
    ["ky-KG", "Y-C'J-L ", 8],
  ];
  for (const [lang, unit, times] of runs) {
    it(`speaks all of “${unit}” ${times} times in ${lang}`, async () => {
      const some = await seconds(lang, unit.repeat(Math.ceil(times / 4)));
      const all = await seconds(lang, unit.repeat(Math.ceil(times / 4) * 4));
      // A text begins and ends with silence of its own.
      expect(all).to.be.above(4 * (some - 0.6) * 0.85);
    });
  }

  it("speaks the runs of a document", async () => {
    const run = "U.S.A.".repeat(57);
    expect(await seconds("en-US", `<speak><p>${run}</p></speak>`)).to.be.closeTo(
      await seconds("en-US", run),
      1.5,
    );
  });

  describe("when it crashes", () => {
    const isLong = (input: string): boolean => input.includes("BAD") && input.length > 30;
    const text = "One two three four five six seven. Eight nine ten eleven BAD twelve. And so on.";

    /** Its tool crashes at such texts, after this many chunks. */
    const crashing = async (crashesAt: (input: string) => boolean, chunks: number) => {
      const inputs: string[] = [];
      const faulty: SubprocessHost = {
        ...host,
        speak: async function* (job, signal, slotOptions) {
          const isBad = crashesAt(job.input);
          inputs.push(job.input);
          let left = isBad ? chunks : Number.POSITIVE_INFINITY;
          for await (const chunk of host.speak(job, signal, slotOptions)) {
            if (left-- <= 0) break;
            yield chunk;
          }
          if (isBad) throw new ToolFailed("exit", "espeak-ng failed.");
        },
      };
      const [first] = await localEngines({ host: speakingPieces(faulty) });
      if (!first) throw new Error("No tool is installed.");
      return { engine: first, inputs };
    };

    for (const chunks of [0, 1, 3]) {
      it(`speaks the text in smaller pieces: a crash after ${chunks} chunks`, async () => {
        const whole = await speak(engine, "en-US", text);
        const expected = Buffer.concat(await collect(whole.audio)).length;
        const { engine: faulty, inputs } = await crashing(isLong, chunks);
        const divided = await speak(faulty, "en-US", text);
        const { length } = Buffer.concat(await collect(divided.audio));
        expect(inputs.length).to.be.above(2);
        expect(length).to.be.within(0.95 * expected, 1.1 * expected);
      });
    }

    it("reports the marks of all words, in their order and within the audio", async () => {
      const { engine: faulty } = await crashing(isLong, 1);
      const divided = await speak(faulty, "en-US", text);
      const length = Buffer.concat(await collect(divided.audio)).length / 2 / 22_050;
      const marks = divided.marks?.()?.filter(({ type }) => type === "word") ?? [];
      const words = Array.from(text.matchAll(/\w+/g), ({ 0: word, index }) => [index, index + word.length]);
      expect(marks.map(({ start, end }) => [start, end])).to.deep.equal(words);
      const times = marks.map(({ time }) => time);
      expect(times).to.deep.equal([...times].sort((a, b) => a - b));
      expect(times.at(-1)).to.be.below(1000 * length);
    });

    it("fails after a bounded number of attempts when it always crashes", async () => {
      const { engine: faulty, inputs } = await crashing(() => true, 0);
      expect(await rejection(speak(faulty, "en-US", "BAD ".repeat(60)))).to.be.instanceOf(EngineFailed);
      expect(inputs.length).to.be.at.most(11);
    });

    it("refuses a text with a letter at which alone it crashes, and names it", async () => {
      const { engine: faulty } = await crashing((input) => input.includes("Q"), 0);
      const refusal = await rejection(speak(faulty, "en-US", "We have a Q here."));
      expect(refusal).to.be.instanceOf(Unpronounceable);
      expect(String(refusal)).to.include("Q (U+0051)");
    });

    it("ends a stream with the refusal of a letter in a later piece: nothing is left out", async () => {
      const { engine: faulty } = await crashing((input) => input.includes("Q"), 0);
      const { audio } = await speak(faulty, "en-US", `${"This is spoken. ".repeat(30)}We have a Q here.`);
      expect(await rejection(collect(audio))).to.be.instanceOf(Unpronounceable);
    });
  });
});
