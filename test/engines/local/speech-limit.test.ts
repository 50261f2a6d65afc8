import { expect } from "chai";
import { EngineFailed, SpeechTooLong } from "../../../src/domain/errors.ts";
import { unknownSize, wavHeader } from "../../../src/domain/synthesis/wav-header.ts";
import type { Engine, SpeechRequest } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { spelledSeconds } from "../../../src/engines/local/espeak-cost.ts";
import type { LocalTool } from "../../../src/engines/local/local-tool.ts";
import { speakInProcess } from "../../../src/subprocess/speech/speak-in-process.ts";
import type { SubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";
import { openToolHost } from "../../support/tool-host.ts";

const never = new AbortController().signal;
const sampleRate = 100;
const sentences = (count: number): string => "A sentence of a piece. ".repeat(count);
const requestOf = (text: string, changes: Partial<SpeechRequest> = {}): SpeechRequest => ({
  ...{ text, ssml: false, voice: "espeak:one", lang: "en-US", format: "mp3" },
  prosody: { pitch: 1, rate: 1, volume: 1 },
  ...changes,
});

/** How the tool speaks each piece, which is one sentence. */
interface Pace {
  readonly seconds: number;
  /** CPU time; undefined: the tool does not report it. */
  readonly cpuMs?: number;
}

const slowTool: LocalTool = {
  prefix: "espeak",
  version: () => "1",
  has: () => true,
  prosodyParameters: () => [],
  bySentence: true,
  reportsEvents: false,
  cost: ({ length }) => length,
  pauses: () => ({}),
  pieceFor: ({ text }) => ({
    job: { type: "tool", tool: "espeak-ng", args: [], output: "pipe", input: text },
  }),
};

const openSlow = async ({ seconds, cpuMs }: Pace): Promise<{ engine: Engine; spoken: readonly string[] }> => {
  const spoken: string[] = [];
  const synthesize = speakInProcess(async function* (job, _signal, _isContinuation, onEnd) {
    if (job.type === "tool") spoken.push(job.input);
    yield Buffer.concat([wavHeader(sampleRate, unknownSize), Buffer.alloc(2 * sampleRate * seconds, 1)]);
    onEnd({ cpuMs });
  });
  const host = { versions: {}, espeak: "library", synthesize } as unknown as SubprocessHost;
  const [engine] = await localEngines({ host, models: new Map([["g1", slowTool]]) });
  if (!engine) throw new Error("there is no engine");
  return { engine, spoken };
};

const speak = async (engine: Engine, request: SpeechRequest): Promise<number> => {
  const { audio } = await engine.synthesize(request, never);
  return Buffer.concat(await collect(audio)).length / 2 / sampleRate;
};

describe("The limit of a text's speech", () => {
  it("is two hours of speech, and ends the synthesis soon after it is exceeded", async () => {
    const { engine, spoken } = await openSlow({ seconds: 1_000 });
    expect(await speak(engine, requestOf(sentences(7)))).to.be.closeTo(7_000, 10);
    expect(await rejection(speak(engine, requestOf(sentences(1_000))))).to.be.instanceOf(SpeechTooLong);
    expect(spoken.length).to.be.below(7 + 12);
  });

  it("also applies to streams, whose beginning was already sent", async () => {
    const { engine } = await openSlow({ seconds: 1_000 });
    const { audio } = await engine.synthesize(requestOf(sentences(9), { progressive: true }), never);
    const failed = await rejection(collect(audio));
    expect(failed).to.be.instanceOf(SpeechTooLong).and.not.instanceOf(EngineFailed);
  });

  it("is eight minutes of CPU time for whole audio", async () => {
    const within = await openSlow({ seconds: 1, cpuMs: 40_000 });
    expect(await speak(within.engine, requestOf(sentences(12)))).to.be.closeTo(12, 0.1);
    const beyond = await openSlow({ seconds: 1, cpuMs: 41_000 });
    expect(await rejection(speak(beyond.engine, requestOf(sentences(1_000))))).to.be.instanceOf(
      SpeechTooLong,
    );
    expect(beyond.spoken.length).to.be.below(15);
  });

  it("does not limit the CPU time of a stream, which plays meanwhile", async () => {
    const { engine } = await openSlow({ seconds: 1, cpuMs: 60_000 });
    const streamed = speak(engine, requestOf(sentences(20), { progressive: true }));
    expect(await streamed).to.be.closeTo(20, 0.1);
  });

  describe("of espeak-ng", () => {
    let host: SubprocessHost;
    let jobs = 0;
    let engine: Engine;
    before(async () => {
      host = await openToolHost();
      const counted: SubprocessHost = {
        ...host,
        synthesize: (...job) => {
          jobs++;
          return host.synthesize(...job);
        },
      };
      const [first] = await localEngines({ host: counted });
      if (!first) throw new Error("espeak-ng is not installed");
      engine = first;
    });
    after(() => host.close());
    const english = (text: string, rate = 1): SpeechRequest =>
      requestOf(text, { voice: "espeak:gmw/en-US", prosody: { pitch: 1, rate, volume: 1 } });

    it("refuses, before any work, letters and signs that take too long because it reads their names", async () => {
      for (const [letter, rate] of [
        ["㊗", 1],
        ["㈱", 0.3],
        ["ខ", 0.5],
        ["ᚠ", 0.5],
      ] as const) {
        const request = english(letter.repeat(5_000), rate);
        expect(await rejection(engine.synthesize(request, never)), letter).to.be.instanceOf(SpeechTooLong);
      }
      expect(jobs).to.equal(0);
    });

    it("is compared with an estimate between a quarter of the time that letters take and all of it", async () => {
      for (const letter of ["㈱", "㍻", "ខ", "ກ", "བ", "ᚠ", "𓀀"]) {
        const text = letter.repeat(4);
        const { encoding, audio } = await engine.synthesize(english(text), never);
        const rate = encoding.kind === "pcm" ? encoding.sampleRate : 0;
        const seconds = Buffer.concat(await collect(audio)).length / 2 / rate;
        expect(spelledSeconds(text, "en-US"), letter).to.be.within(seconds / 4, seconds);
      }
    });

    for (const [voice, lang, text] of [
      [
        "sit/cmn",
        "zh-CN",
        "今天天气很好，我们一起去公园散步吧。他在二〇二四年买了一辆新汽车，花了三万五千元。",
      ],
      ["sit/yue", "zh-HK", "今日天氣好好，我哋一齊去公園散步啦。佢買咗一架新車。"],
      ["jpx/ja", "ja-JP", "今日はとても天気がいいので、公園へ散歩に行きましょう。"],
      ["ko", "ko-KR", "오늘은 날씨가 아주 좋아서 우리는 공원에 산책하러 갑니다."],
      ["inc/hi", "hi-IN", "आज मौसम बहुत अच्छा है, चलो पार्क में टहलने चलते हैं।"],
      ["sem/ar", "ar", "الطقس جميل اليوم، لنذهب في نزهة إلى الحديقة."],
      ["sem/am", "am-ET", "ዛሬ አየሩ በጣም ጥሩ ነው፣ ወደ መናፈሻ እንሂድ።"],
      ["zle/ru", "ru-RU", "Сегодня очень хорошая погода, пойдём гулять в парк."],
      ["grk/el", "el-GR", "Σήμερα ο καιρός είναι πολύ καλός, πάμε μια βόλτα."],
      ["dra/ta", "ta-IN", "இன்று வானிலை மிகவும் நன்றாக உள்ளது."],
      ["gmw/de", "de-DE", "Er kaufte am 3. Mai 1998 ein Auto für 12.500 Euro."],
      ["gmw/en-US", "en-US", "He paid $12,500 on 3/5/1998 (see www.example.com)."],
    ] as const) {
      it(`allows 5,000 characters at the slowest rate: ${lang}`, async () => {
        const prosody = { pitch: 1, rate: 0, volume: 1 };
        const asked = requestOf(text, { voice: `espeak:${voice}`, lang, prosody });
        const { encoding, audio } = await engine.synthesize(asked, never);
        const rate = encoding.kind === "pcm" ? encoding.sampleRate : 0;
        const seconds = Buffer.concat(await collect(audio)).length / 2 / rate;
        expect((seconds / Array.from(text).length) * 5_000).to.be.within(300, 6_000);
        expect(spelledSeconds(text, lang)).to.equal(0);
      });
    }
  });
});
