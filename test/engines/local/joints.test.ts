import { Readable } from "node:stream";
import { expect } from "chai";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import { plainRun } from "../../../src/domain/text/ssml-runs.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { espeak } from "../../../src/engines/local/espeak.ts";
import { flite } from "../../../src/engines/local/flite.ts";
import { gainOf } from "../../../src/engines/local/gains.ts";
import { localPieces, spokenPart } from "../../../src/engines/local/local-pieces.ts";
import { scale } from "../../../src/pcm/read-samples.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { speakByTool } from "../../support/speak-piece.ts";
import { openToolHost } from "../../support/tool-host.ts";

const never = new AbortController().signal;

/** Each text has one kind of boundary, and is cut into several pieces. */
const texts = {
  sentences:
    "The quick brown fox jumps over the lazy dog. Then it goes home to its children! Does anybody know the way? It was a long day: nobody had seen the river before. They slept. In the morning the whole family walked along the shore; the sun was warm. Nothing else happened that day. Everyone was happy, or so they said. The end of it all came much later.",
  paragraphs:
    "The quick brown fox jumps over the lazy dog.\n\nThen it goes home to its children.\n\nDoes anybody know the way, or must we ask again?\n\nIt was a long day and nobody had seen the river before.\n\nThey slept. In the morning the whole family walked along the shore.\n\nNothing else happened that day.\n\nEveryone was happy, or so they said.",
  clauses:
    "When the old man came down from the hills, which were covered in snow that year, he brought with him a dog, two sheep, and a bundle of wood, all of which he wanted to sell in the market of the small town, where his sister lived, who had promised him a bed, a fire, and a meal, although she was poor, and although the winter, as everyone said, was the hardest, and the longest, that anybody could remember",
  words: "and then they went home to their old children ".repeat(12),
  ssml: '<speak><p><s>The quick brown fox jumps over the lazy dog.</s><s>Then it goes home to its children.</s></p><p>Does anybody know the way, or must we ask again? It was a long day and nobody had seen the river before.</p><p>They slept. In the morning the whole family walked along the shore. Nothing else happened that day.</p><p>Everyone was happy, or so they said. <prosody rate="slow">The end of it all came much later.</prosody></p></speak>',
};

/** Up to this amplitude, samples are silent. */
const silence = 100;
/** By how much a pause may differ from the same pause without a joint, in seconds. */
const tolerance = 0.055;

const samplesOf = async (pcm: AsyncIterable<Buffer>): Promise<Int16Array> => {
  const bytes = Buffer.concat(await collect(pcm));
  return Int16Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at));
};

/** A mean square of 70 dB below full scale. */
const inaudible = 100;

const isLoud = (sample: number): boolean => Math.abs(sample) > silence;

interface Pause {
  readonly from: number;
  readonly to: number;
}

const pausesOf = (sound: Int16Array, least: number): Pause[] => {
  const pauses: Pause[] = [];
  let from = sound.findIndex(isLoud);
  for (let to = from; to < sound.length; to++) {
    if (!isLoud(sound[to] ?? 0)) continue;
    if (to - from >= least) pauses.push({ from, to });
    from = to;
  }
  return pauses;
};

/** Where the audio contains the part, by the 64 samples at the part's loudest place. */
const offsetOf = (part: Int16Array, sound: Int16Array, after: number): number => {
  let loudest = 0;
  for (let at = 500; at < part.length - 500; at++) {
    if (Math.abs(part[at] ?? 0) > Math.abs(part[loudest] ?? 0)) loudest = at;
  }
  const matches = (at: number) =>
    part.subarray(loudest, loudest + 64).every((sample, index) => sample === sound[at + index]);
  for (let at = after; at < sound.length; at++) if (matches(at)) return at - loudest;
  throw new Error("The sound does not contain the piece.");
};

const jointsOf = (parts: readonly Int16Array[], sound: Int16Array): Pause[] => {
  const offsets: number[] = [];
  for (const part of parts) offsets.push(offsetOf(part, sound, Math.max(0, offsets.at(-1) ?? 0)));
  return parts.slice(1).map((next, index) => ({
    from: (offsets[index] ?? 0) + (parts[index]?.findLastIndex(isLoud) ?? 0),
    to: (offsets[index + 1] ?? 0) + next.findIndex(isLoud),
  }));
};

const largestStep = (sound: Int16Array, { from, to }: Pause): number => {
  let largest = 0;
  for (let at = from + 2; at < to; at++) {
    largest = Math.max(largest, Math.abs((sound[at] ?? 0) - (sound[at - 1] ?? 0)));
  }
  return largest;
};

const frame = 128;
const phases = Array.from({ length: frame }, (_, index) => (2 * Math.PI * index) / frame);
const cosines = Float64Array.from(phases, Math.cos);
const sines = Float64Array.from(phases, Math.sin);

/**
 * The most energy above 4 kHz in a frame of about 6 ms, where clicks are heard: the mean square of
 * its samples.
 */
const highestTreble = (sound: Int16Array, { from, to }: Pause, sampleRate: number): number => {
  let highest = 0;
  for (let at = from + 1; at + frame <= to; at += frame / 2) {
    let energy = 0;
    for (let bin = Math.ceil((4000 * frame) / sampleRate); bin < frame / 2; bin++) {
      let [real, imaginary] = [0, 0];
      for (let index = 0; index < frame; index++) {
        const sample = sound[at + index] ?? 0;
        real += sample * (cosines[(bin * index) % frame] ?? 0);
        imaginary += sample * (sines[(bin * index) % frame] ?? 0);
      }
      energy += (2 * (real ** 2 + imaginary ** 2)) / frame ** 2;
    }
    highest = Math.max(highest, energy);
  }
  return highest;
};

const mostOf = (values: readonly number[]): number =>
  values.reduce((most, value) => Math.max(most, value), 0);

describe("The joints between the pieces of a text, compared with the pauses of the same text in one piece", function () {
  const host = duringSuite(openToolHost);
  this.timeout(240_000);

  /** The audio of the engine, of its pieces, and of the text in one piece. */
  const speakBothWays = async (voice: string, text: string) => {
    const [prefix, name = ""] = voice.split(":");
    const tool = prefix === "flite" ? flite(host) : await espeak(host);
    const [engine] = await localEngines({ host });
    if (!tool || !engine) throw new Error("The tool is not installed.");
    const ssml = text.startsWith("<speak>");
    const request: SpeechRequest = {
      ...{ text, voice, ssml, lang: "en-US" },
      ...{ prosody: normalProsody, format: "wav" },
    };
    const speak = async (part: string) => {
      const { pcm } = await speakByTool(host, tool, { ...request, voice: name, text: part });
      return await samplesOf(scale(Readable.from([pcm]), gainOf(voice)));
    };
    const parts: Int16Array[] = [];
    const spokenBy = { tool, name, lang: request.lang, gain: gainOf(voice) };
    const run = { ...plainRun(text), ssml };
    for (const piece of localPieces([run], normalProsody, () => spokenBy))
      parts.push(await speak(spokenPart(piece)));
    const { encoding, audio } = await engine.synthesize(request, never);
    const sampleRate = encoding.kind === "pcm" ? encoding.sampleRate : 0;
    return { sound: await samplesOf(audio), parts, whole: await speak(text), sampleRate };
  };

  for (const voice of ["espeak:gmw/en-US", "espeak:gmw/en-US+f3", "flite:slt"]) {
    for (const [kind, text] of Object.entries(texts)) {
      if (kind === "ssml" && voice.startsWith("flite")) continue;
      it(`have the same length, and neither a step nor a click: ${voice}, ${kind}`, async () => {
        const { sound, parts, whole, sampleRate } = await speakBothWays(voice, text);
        const joints = jointsOf(parts, sound);
        expect(joints.length).to.be.at.least(1);
        const natural = pausesOf(whole, 0.02 * sampleRate);
        const most = {
          step: mostOf(natural.map((pause) => largestStep(whole, pause))),
          treble: mostOf(natural.map((pause) => highestTreble(whole, pause, sampleRate))),
        };
        for (const joint of joints) {
          const [nearest] = natural.toSorted(
            (a, b) => Math.abs(a.from - joint.from) - Math.abs(b.from - joint.from),
          );
          // Between words there is no pause, but some consonants begin with a short silence.
          const same =
            kind === "words" || !nearest ? tolerance / 2 : (nearest.to - nearest.from) / sampleRate;
          expect((joint.to - joint.from) / sampleRate, "pause").to.be.closeTo(same, tolerance);
          expect(largestStep(sound, joint), "step").to.be.at.most(Math.max(1.5 * most.step, silence));
          const treble = highestTreble(sound, joint, sampleRate);
          expect(treble, "treble").to.be.at.most(Math.max(2 * most.treble, inaudible));
        }
      });
    }
  }

  it("would be recognised if a piece were cut off within a word", async () => {
    const { whole, sampleRate } = await speakBothWays("espeak:gmw/en-US", texts.sentences);
    const loudest = whole.indexOf(mostOf([...whole]));
    const cut = Int16Array.from([...whole.subarray(0, loudest), ...new Int16Array(sampleRate / 5)]);
    const pause = { from: loudest - frame, to: cut.length };
    expect(largestStep(cut, pause)).to.be.above(5000);
    expect(highestTreble(cut, pause, sampleRate)).to.be.above(10_000);
  });
});
