import { readFileSync } from "node:fs";
import type { SpeechEvent } from "../../../espeak.ts";
import type { PicoRequest, PicoStart } from "../../../pico.ts";
import { readRequests, type SpeakerRequest } from "../../requests.ts";
import { createWavWriter, reportDone, reportFailure, reportReady } from "../../speaker-program.ts";
import {
  markTag,
  openPicoEngine,
  type PicoEngine,
  type PicoPart,
  picoText,
  sampleRate,
  speakInParts,
} from "./engine.ts";
import type { PhoneItem } from "./phone-items.ts";
import { wordFrames } from "./word-times.ts";

/**
 * The program of a process with Pico's voices. A voice is opened for its first text. The argument
 * names the files of the voices.
 */

/** The number of samples of a frame, which takes 4 ms. */
const frameSamples = 64;
/**
 * The windows of the signal generation overlap: a phone is heard this much after its first frame
 * (measured).
 */
const delayFrames = 6;

const main = async (): Promise<void> => {
  const { voices } = JSON.parse(process.argv[2] ?? "{}") as PicoStart;
  const engines = new Map<string, PicoEngine>();
  const engineOf = async (voice: string): Promise<PicoEngine> => {
    const known = engines.get(voice);
    if (known) return known;
    const files = voices[voice];
    if (!files) throw new Error("There is no such voice.");
    const [textAnalysis, signal] = [readFileSync(files.textAnalysis), readFileSync(files.signal)];
    const engine = await openPicoEngine({ textAnalysis, signal });
    engines.set(voice, engine);
    return engine;
  };
  reportReady("SVOX Pico");
  for await (const request of readRequests<PicoRequest>()) {
    try {
      const engine = await engineOf(request.content.voice);
      reportDone({ events: await speak(engine, request), isLast: false });
    } catch (error) {
      reportFailure(error);
    }
  }
};

const speak = async (
  engine: PicoEngine,
  { content, isCancelled }: SpeakerRequest<PicoRequest>,
): Promise<readonly SpeechEvent[]> => {
  const { prosodyTags, text } = picoText(content);
  const wav = createWavWriter(() => sampleRate);
  const parts = new Map<PicoPart, { readonly items: PhoneItem[]; samples: number }>();
  for (const { part, items, samples } of speakInParts(engine, prosodyTags, text)) {
    if (isCancelled()) return [];
    const spoken = parts.get(part) ?? { items: [], samples: 0 };
    parts.set(part, spoken);
    if (samples.length > 0) wav.add(samples);
    spoken.samples += samples.length / bytesPerSample;
    spoken.items.push(...items);
  }
  wav.flush();
  const events: SpeechEvent[] = [];
  let [position, sample] = [0, 0];
  for (const [{ text }, { items, samples }] of parts) {
    if (samples === 0) continue;
    for (const event of eventsOf(engine, { text, prosodyTags, items, isCancelled }))
      if (event.kind === "word" || position === 0)
        events.push({ ...event, position: position + event.position, sample: sample + event.sample });
    position += Array.from(text).length;
    sample += samples;
  }
  return events;
};

const bytesPerSample = 2;

interface Spoken extends Pick<SpeakerRequest<PicoRequest>, "isCancelled"> {
  readonly text: string;
  readonly prosodyTags: string;
  readonly items: readonly PhoneItem[];
}

const eventsOf = (engine: PicoEngine, spoken: Spoken): readonly SpeechEvent[] => {
  const { text, prosodyTags, items, isCancelled } = spoken;
  const words = wordsOf(text);
  const [first] = words;
  if (!first) return [];
  const frames = new Map<number, number>();
  for (let from = 0; from < words.length; from += maxMarks) {
    if (isCancelled()) return [];
    const marks = Math.min(maxMarks, words.length - from);
    const text = prosodyTags + markWords(words, from, marks);
    const marked = markedItems(engine, { text, marks, spokenFrames: framesOf(items), isCancelled });
    for (const [index, frame] of wordFrames(items, marked)) frames.set(from + index, frame);
  }
  const events: SpeechEvent[] = [{ kind: "sentence", position: first.position, length: 0, sample: 0 }];
  let last = -1;
  for (const [index, { position, length }] of words.entries()) {
    const frame = frames.get(index) ?? 0;
    // Pico reads a date or an amount as one word, and reports the marks within this word before it.
    // Signs take no time.
    if (frame === last && isSign.test(words[index - 1]?.text ?? "")) events.pop();
    else if (frame <= last) continue;
    last = frame;
    events.push({ kind: "word", position, length, sample: (frame + delayFrames) * frameSamples });
  }
  return events;
};

const isSign = /^[^\p{L}\p{N}]*$/u;

interface Word {
  readonly text: string;
  /** The position in code points, like `length`. */
  readonly position: number;
  readonly length: number;
}

const wordsOf = (text: string): Word[] => {
  let position = 0;
  return (text.match(/\s+|\S+/gu) ?? []).flatMap((part) => {
    const length = Array.from(part).length;
    const word = { text: part, position, length };
    position += length;
    return part.trim() === "" ? [] : [word];
  });
};

/** The most marks in a text. Pico never ends a sentence that has 62 marks or more. */
const maxMarks = 50;

/** Returns the text with a mark before each of `marks` words, and one after the last of them. */
const markWords = (words: readonly Word[], from: number, marks: number): string =>
  [...words.map(({ text }) => text), ""]
    .map((text, index) => (index < from || index > from + marks ? text : markTag(index - from) + text))
    .join(" ");

interface MarkedText extends Pick<SpeakerRequest<PicoRequest>, "isCancelled"> {
  readonly text: string;
  /** The index of the last mark. */
  readonly marks: number;
  /** The number of frames of the same text without marks. */
  readonly spokenFrames: number;
}

/**
 * Returns the items up to the last mark. The signal, which takes most of the time, would be
 * computed after it.
 */
const markedItems = (engine: PicoEngine, marked: MarkedText): readonly PhoneItem[] => {
  const { text, marks, spokenFrames, isCancelled } = marked;
  const items: PhoneItem[] = [];
  let frames = 0;
  try {
    for (const step of engine.speak(text)) {
      items.push(...step.items);
      frames += framesOf(step.items);
      const isOver = step.items.some((item) => item.kind === "mark" && item.index === marks);
      if (isOver || frames > 2 * spokenFrames + 1000 || isCancelled()) break; // marks add a few frames
    }
  } catch {
    // Pico may have failed only because of the marks. The audio is complete, but these words get no
    // times of their own.
  }
  return items;
};

const framesOf = (items: readonly PhoneItem[]): number =>
  items.reduce((sum, item) => sum + (item.kind === "phone" ? item.frames : 0), 0);

await main();
