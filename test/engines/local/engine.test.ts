import { expect } from "chai";
import { releaseSeed } from "../../../src/domain/catalog/seed/seed.ts";
import { EngineFailed, Invalid, Unavailable, Unpronounceable } from "../../../src/domain/errors.ts";
import { normalProsody, type Prosody } from "../../../src/domain/synthesis/speech.ts";
import type { Engine, SpeechRequest } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import type { SubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { engineContract, say } from "../../contracts/engine.ts";
import { collect } from "../../support/collect.ts";
import type { Sound } from "../../support/local-voice.ts";
import { medianPitch } from "../../support/pitch.ts";
import { signal, until } from "../../support/processes.ts";
import { rejection } from "../../support/rejection.ts";
import { speakingPieces } from "../../support/speak-piece.ts";
import { openToolHost } from "../../support/tool-host.ts";

const sentence = "The quick brown fox jumps over the lazy dog, and then it goes home to its children.";
const never = new AbortController().signal;

const requestOf = (voice: string, text = sentence, prosody: Partial<Prosody> = {}): SpeechRequest => ({
  text,
  voice,
  ssml: false,
  lang: "en-US",
  prosody: { ...normalProsody, ...prosody },
  format: "mp3",
});

const openEngine = async (): Promise<{ host: SubprocessHost; engine: Engine }> => {
  const host = await openToolHost();
  const [engine] = await localEngines({ host });
  if (!engine) throw new Error("neither espeak-ng nor flite is installed");
  return { host, engine };
};

for (const voice of ["espeak:gmw/en-US+f3", "flite:slt", "flite:rms"]) {
  engineContract(voice, async () => {
    const { host, engine } = await openEngine();
    return {
      engine,
      request: requestOf(voice),
      longText: `${sentence} `.repeat(40),
      unspeakable: " … \n — ",
      idle: () => until("no tool runs", () => host.stats().running === 0),
      end: () => host.close(),
    };
  });
}

describe("Local engines", () => {
  let host: SubprocessHost;
  let engine: Engine;

  before(async () => {
    ({ host, engine } = await openEngine());
  });
  after(() => host.close());

  const speak = async (voice: string, text?: string, prosody?: Partial<Prosody>): Promise<Sound> => {
    const { encoding, audio } = await engine.synthesize(requestOf(voice, text, prosody), never);
    const chunks: Buffer[] = [];
    for await (const chunk of audio) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const samples = Int16Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at));
    return { samples, sampleRate: encoding.kind === "pcm" ? encoding.sampleRate : 0 };
  };
  const sentences = new Map<string, Promise<Sound>>();
  /** The sentence with default prosody, synthesized once for each voice. */
  const normal = (voice: string): Promise<Sound> => {
    const sound = sentences.get(voice) ?? speak(voice);
    sentences.set(voice, sound);
    return sound;
  };
  const seconds = ({ samples, sampleRate }: Sound) => samples.length / sampleRate;
  const loudness = ({ samples }: Sound) =>
    Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length);

  it("have the codes g1, g2, g3 and g5, all backed by the same tools", async () => {
    const engines = await localEngines({ host });
    expect(engines.map(({ code }) => code)).to.deep.equal(["g1", "g2", "g3", "g5"]);
    const received = await Promise.all(engines.map((one) => say(one, requestOf("espeak:roa/fr"))));
    for (const one of received) expect(one.equals(received[0] ?? Buffer.of())).to.equal(true);
  });

  it("are not offered on a machine without their tool, and the reason is logged", async () => {
    const bare = await openToolHost({ path: "/nonexistent" });
    const warnings: string[] = [];
    const none = await localEngines({ host: bare, warn: (line) => warnings.push(line) }).finally(bare.close);
    expect(none).to.deep.equal([]);
    expect(warnings).to.have.lengthOf(2);
    expect(warnings.join()).to.contain("espeak-ng is not installed").and.to.contain("flite is not installed");
  });

  for (const voice of ["espeak:gmw/en-US", "flite:slt", "flite:awb"]) {
    it(`speak twice as fast at rate 2 and half as fast at rate 0.5: ${voice}`, async () => {
      const usual = seconds(await normal(voice));
      expect(seconds(await speak(voice, sentence, { rate: 2 })) / usual).to.be.closeTo(0.5, 0.08);
      expect(seconds(await speak(voice, sentence, { rate: 0.5 })) / usual).to.be.closeTo(2, 0.2);
    });

    it(`speak at rate 0 at their slowest supported rate: ${voice}`, async () => {
      const slow = await speak(voice, "Hello, all of you.", { rate: 0 });
      expect(seconds(slow)).to.be.within(1, 6);
    });

    it(`are half as loud at volume 0.5: ${voice}`, async () => {
      const half = loudness(await speak(voice, sentence, { volume: 0.5 }));
      expect(half / loudness(await normal(voice))).to.be.closeTo(0.5, 0.05);
      expect(loudness(await speak(voice, sentence, { volume: 0.01 }))).to.be.above(0);
    });
  }

  for (const voice of ["espeak:gmw/en-US", "flite:slt", "flite:kal16"]) {
    it(`scale their pitch from two thirds to five thirds: ${voice}`, async () => {
      const usual = medianPitch(await normal(voice)) ?? 0;
      const lowest = medianPitch(await speak(voice, sentence, { pitch: 0 })) ?? 0;
      const highest = medianPitch(await speak(voice, sentence, { pitch: 2 })) ?? 0;
      expect(lowest / usual).to.be.within(0.6, 0.8);
      expect(highest / usual).to.be.within(1.45, 1.8);
    });
  }

  it("change pitch continuously around the default", async () => {
    for (const voice of ["flite:slt", "flite:kal16"]) {
      const usual = medianPitch(await normal(voice)) ?? 0;
      expect(medianPitch(await speak(voice, sentence, { pitch: 1.0001 }))).to.be.closeTo(usual, 3);
    }
  });

  it("have different pitches for female and male voices of a language", async () => {
    const women = await Promise.all(["espeak:gmw/en-US+f3", "flite:slt", "espeak:roa/fr+f3"].map(normal));
    const men = await Promise.all(["espeak:gmw/en-US", "flite:rms", "espeak:roa/fr"].map(normal));
    const lowestWoman = Math.min(...women.map((one) => medianPitch(one) ?? 0));
    const highestMan = Math.max(...men.map((one) => medianPitch(one) ?? 999));
    expect(lowestWoman).to.be.above(1.2 * highestMan);
  });

  for (const voice of ["espeak:gmw/en-US", "flite:slt"]) {
    it(`accept SSML: ${voice}`, async () => {
      const ssml = '<speak>One <break time="500ms"/> two.</speak>';
      expect(engine.takesSsml(voice)).to.equal(true);
      const spoken = await say(engine, { ...requestOf(voice, ssml), ssml: true });
      const read = await say(engine, requestOf(voice, ssml));
      expect(spoken.length).to.be.below(read.length);
    });
  }

  it("speak text literally: no phoneme notation, no commands, no options, no end-of-input markers", async () => {
    const voice = "espeak:gmw/en-US";
    const same = async (one: string, other: string) => {
      const [a, b] = [await say(engine, requestOf(voice, one)), await say(engine, requestOf(voice, other))];
      expect(a.equals(b), JSON.stringify(one)).to.equal(true);
    };
    await same("Say [[h@'loU]] now.", "Say [ [h@'loU]] now.");
    await same("Say [[[h@'loU]]] now.", "Say [ [ [h@'loU]]] now.");
    // espeak-ng skips U+00AD and U+200C between the brackets; other versions may skip more.
    for (const hidden of ["\u00ad", "\u200c", "\u00ad\u200c\u00ad"])
      await same(`Say [${hidden}[h@'loU]] now.`, "Say [ [h@'loU]] now.");
    for (const hidden of ["\u200d", "\ufe0f", "\u2060", "\u0301", "\u0640"])
      await same(`Say [${hidden}[h@'loU]] now.`, `Say [ ${hidden}[h@'loU]] now.`);
    await same("Before\u000199P after.", "Before 99P after.");
    await same("Before\u0000after.", "Before after.");
    for (const text of ["--help", "-v fr", "$(reboot)", "`id`", "; id", "%s%n", "../../etc/passwd"]) {
      expect((await say(engine, requestOf(voice, text))).length, text).to.be.above(5000);
    }
    for (const [one, other] of [
      ["Don\u2019t go to the caf\u00e9.", "Don't go to the cafe."],
      ["Before\u0000after.", "Before after."],
    ] as const) {
      const [a, b] = [
        await say(engine, requestOf("flite:slt", one)),
        await say(engine, requestOf("flite:slt", other)),
      ];
      expect(a.equals(b), one).to.equal(true);
    }
  });

  it("do not interpret phoneme notation within SSML, however the brackets are written", async () => {
    const request = requestOf("espeak:gmw/en-US");
    const received = await Promise.all(
      [
        ...["[ [h@l]]", "[[h@l]]", "&#91;[h@l]]", "&#x5B;&#0091;h@l]]"],
        ...["[\u00ad[h@l]]", "[&#173;[h@l]]", "&#91;\u200c&#x5b;h@l]]", "[&#xad;&#8204;[h@l]]"],
      ].map((text) => say(engine, { ...request, ssml: true, text: `<speak>Say ${text} now.</speak>` })),
    );
    for (const one of received) expect(one.equals(received[0] ?? Buffer.of())).to.equal(true);
  });

  it("synthesize unusual text: emoji, right-to-left script, a lone surrogate, 5,000 characters", async () => {
    const voices = ["espeak:gmw/en-US", "espeak:sem/ar"];
    const texts = [
      "🙂 👩‍👩‍👧",
      "مرحبا بالعالم",
      "שלום עולם",
      "a\ud800b",
      "\u202eabc\u202c",
      "x".repeat(5000),
    ];
    for (const voice of voices) {
      for (const text of texts) {
        expect((await say(engine, requestOf(voice, text))).length, text.slice(0, 9)).to.be.above(1000);
      }
    }
    expect((await say(engine, requestOf("flite:slt", "word ".repeat(200)))).length).to.be.above(250_000);
  });

  it("offer only voices that are installed, identified by their files and variants", async () => {
    const unknown = [
      "espeak:gmw/en-US+nobody",
      "espeak:en-US",
      "espeak:gmw/en-US+../f3",
      "espeak:-v",
      "espeak:mb/mb-us1",
      "flite:kal",
      "flite:/etc/passwd",
      "flite:constructor",
      "sam:slt",
    ];
    for (const voice of unknown) {
      expect(engine.prosody(voice), voice).to.deep.equal([]);
      expect(await rejection(say(engine, requestOf(voice))), voice).to.be.instanceOf(EngineFailed);
    }
    for (const voice of ["espeak:ko", "espeak:roa/fr+klatt2", "espeak:gmw/en-GB-scotland+f2", "flite:awb"]) {
      expect(engine.prosody(voice), voice).to.not.deep.equal([]);
    }
  });

  it("have every voice of the catalog that is not a browser's own", () => {
    const spoken = releaseSeed().systemVoices.filter(({ service }) => service !== undefined);
    const missing = spoken.filter(({ voiceName = "" }) => engine.prosody(voiceName).length === 0);
    expect(spoken).to.not.be.empty;
    expect(missing.map(({ voiceName }) => voiceName)).to.deep.equal([]);
  });

  it("report which prosody parameters each flite voice applies", () => {
    expect(engine.prosody("flite:slt")).to.deep.equal(["pitch", "rate", "volume"]);
    expect(engine.prosody("flite:kal16")).to.deep.equal(["pitch", "rate", "volume"]);
    expect(engine.prosody("flite:rms")).to.deep.equal(["rate", "volume"]);
    expect(engine.prosody("flite:awb")).to.deep.equal(["rate", "volume"]);
  });

  it("reject a text as invalid, instead of returning silence, when no voice could pronounce any of it", async () => {
    for (const voice of ["espeak:gmw/en-US", "flite:slt"]) {
      for (const text of [" ", ".", "...", "-", "<", "\n\n", "…", "()", "\u200b", "\u200b-\ufeff"]) {
        const failure = await rejection(say(engine, requestOf(voice, text)));
        expect(failure, JSON.stringify(text)).to.be.instanceOf(Invalid);
      }
    }
    for (const text of ["<speak>.</speak>", '<speak><prosody volume="silent">One</prosody></speak>']) {
      const request = { ...requestOf("espeak:gmw/en-US", text), ssml: true };
      expect(await rejection(say(engine, request)), text).to.be.instanceOf(Invalid);
    }
  });

  it("fail for a text that flite cannot pronounce, and skip such words in other texts", async () => {
    for (const text of ["\u{1F642}"]) {
      const failure = await rejection(say(engine, requestOf("flite:slt", text)));
      expect(failure, text).to.be.instanceOf(Unpronounceable);
      expect((await say(engine, requestOf("espeak:gmw/en-US", text))).length).to.be.above(1000);
    }
    const [some, all] = await Promise.all(
      ["Hello \u{1F642}\u{1F642} all.", "Hello    all."].map((text) =>
        say(engine, requestOf("flite:slt", text)),
      ),
    );
    expect(some?.equals(all ?? Buffer.of())).to.equal(true);
  });

  /**
   * The longest run of silence between the first and the last sample that is not silent, in
   * seconds.
   */
  const longestPause = ({ samples, sampleRate }: Sound): number => {
    let [longest, since] = [0, samples.findIndex((sample) => Math.abs(sample) > 100)];
    for (let at = since; at < samples.length; at++) {
      if (Math.abs(samples[at] ?? 0) <= 100) continue;
      longest = Math.max(longest, at - since);
      since = at;
    }
    return longest / sampleRate;
  };

  for (const voice of ["espeak:gmw/en-US", "flite:slt"]) {
    it(`pause between the sentences of a long text as within a short one: ${voice}`, async () => {
      const whole = await speak(voice, `${sentence} `.repeat(6));
      const once = await normal(voice);
      expect(seconds(whole)).to.be.closeTo(6 * seconds(once), 0.1);
    });

    it(`add no pause where a long sentence is split: ${voice}`, async () => {
      const words = "and then they went home to their old children ";
      expect(longestPause(await speak(voice, words.repeat(20)))).to.be.below(0.13);
    });

    it(`pass at most 300 characters at once to a tool: ${voice}`, async () => {
      const inputs: string[] = [];
      // The tools speak less than a piece, because only their input counts here.
      const watched: SubprocessHost = {
        ...host,
        run: (job, signal, slotOptions) => {
          inputs.push(job.input);
          return host.run({ ...job, input: job.input && "One." }, signal, slotOptions);
        },
        speak: (job, signal, slotOptions) => {
          inputs.push(job.input);
          return host.speak({ ...job, input: job.input && "One." }, signal, slotOptions);
        },
      };
      const [one] = await localEngines({ host: speakingPieces(watched) });
      if (!one) throw new Error("there is no engine");
      inputs.length = 0;
      const digits = "7319046528".repeat(60);
      await say(one, requestOf(voice, digits));
      expect(inputs.join("").replaceAll(" ", "")).to.equal(digits);
      for (const input of inputs) expect(input.length).to.be.within(40, 300);
    });

    it(`skip silent pieces, and reject a text that consists of silent pieces only: ${voice}`, async () => {
      const dots = ". ".repeat(400);
      const [alone, after] = [await speak(voice, "One."), await speak(voice, `${dots}One. ${dots}`)];
      expect(after.samples.length).to.be.at.least(alone.samples.length);
      expect(await rejection(say(engine, requestOf(voice, dots)))).to.be.instanceOf(Invalid);
    });
  }

  it("release the slot of an idle listener, and continue when it reads again", async () => {
    const single = await openToolHost({ concurrency: 1 });
    const [only] = await localEngines({ host: single });
    if (!only) throw new Error("no tool is installed");
    const request = requestOf("espeak:gmw/en-US", `${sentence} `.repeat(12));
    const whole = await say(only, request);
    const slow = (await only.synthesize(request, never)).audio[Symbol.asyncIterator]();
    const first = await slow.next();
    await until("the tool's slot is free", () => single.stats().running === 0);
    expect(await say(only, requestOf("espeak:gmw/en-US", "Hello."))).not.to.have.length(0);
    const rest = await collect({ [Symbol.asyncIterator]: () => slow });
    expect(Buffer.concat([first.value, ...rest]).equals(whole)).to.equal(true);
    await single.close();
  });

  it("synthesize long SSML in pieces, breaks included", async () => {
    const ssml = `<speak><p>${`${sentence} `.repeat(5)}</p><break time="2s"/><s>${sentence}</s></speak>`;
    const { encoding, audio } = await engine.synthesize(
      { ...requestOf("espeak:gmw/en-US", ssml), ssml: true },
      never,
    );
    const bytes = Buffer.concat(await collect(audio));
    const samples = Int16Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at));
    const sound = { samples, sampleRate: encoding.kind === "pcm" ? encoding.sampleRate : 0 };
    expect(longestPause(sound)).to.be.within(2, 3.5);
  });

  it("reject a text that the voice cannot pronounce, without counting a tool failure", async () => {
    const failure = await rejection(say(engine, requestOf("espeak:art/qya", "0")));
    expect(failure).to.be.instanceOf(Unpronounceable);
    expect((failure as Unpronounceable).problems.map(({ path }) => path)).to.deep.equal([["text"]]);
  });

  it("refuse a text of which they would skip letters, and name these", async () => {
    const refused: [voice: string, lang: string, text: string, named: string][] = [
      ["flite:slt", "en-US", "Hello ꠀ and 🙂.", "ꠀ (U+A800)"],
      ["flite:slt", "en-US", "Hello ខ្មែរ.", "ខ (U+1781), ម (U+1798), រ (U+179A)"],
      ["espeak:gmw/en-US", "en-US", "One. Two ꠀꠁ.", "ꠀ (U+A800), ꠁ (U+A801)"],
      ["espeak:gmw/en-US", "en-US", "One ꡀꡁꡂꡃꡄꡅ", "ꡄ (U+A844) and others"],
    ];
    for (const [voice, lang, text, named] of refused) {
      const failure = await rejection(say(engine, { ...requestOf(voice, text), lang }));
      expect(failure, text).to.be.instanceOf(Unpronounceable);
      expect((failure as Unpronounceable).message, text).to.include(named);
    }
  });

  it("speak texts with signs that have no name, and with letters that espeak-ng spells", async () => {
    for (const text of ["One \ue000 \u{1f6d8} two.", "One ខ្មែរ 𓀀 ᚠ."]) {
      expect((await say(engine, requestOf("espeak:gmw/en-US", text))).length).to.be.above(1000);
    }
  });

  it("are audible at the lowest volume", async () => {
    for (const voice of ["espeak:gmw/en-US+f3", "espeak:roa/fr", "flite:slt"]) {
      const sound = await say(engine, requestOf(voice, "One.", { pitch: 0, volume: 0.004 }));
      expect(sound.some((byte) => byte !== 0)).to.equal(true);
    }
  });

  it("return the same audio after the helper process was killed", async () => {
    const before = await say(engine, requestOf("espeak:gmw/en-US"));
    const { pid, restarts } = host.stats();
    signal(pid, "SIGKILL");
    await until("the host has noticed", () => host.stats().pid !== pid);
    expect(before.equals(await say(engine, requestOf("espeak:gmw/en-US")))).to.equal(true);
    expect(host.stats().restarts).to.equal(restarts + 1);
  });

  it("fail as unavailable after close", async () => {
    const other = await openEngine();
    await other.host.close();
    expect(await rejection(say(other.engine, requestOf("flite:slt")))).to.be.instanceOf(Unavailable);
  });
});
