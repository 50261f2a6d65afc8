import SvoxPico from "@echogarden/svoxpico-wasm";
import type { PicoRequest } from "../../../pico.ts";
import { findPhoneBuffer, type PhoneItem, readPhoneItems } from "./phone-items.ts";

export type PicoEngine = Awaited<ReturnType<typeof openPicoEngine>>;

export const sampleRate = 16_000;

/** The memory for the data and the work of Pico. The largest voice takes 3 MB. */
const memoryBytes = 4 * 1024 * 1024;
/** The most bytes of a call: Pico takes and returns lengths as signed 16-bit numbers. */
const textBytes = 0x7fff;
const samplesBytes = 4096;
const ok = 0; // PICO_OK
const idle = 200; // PICO_STEP_IDLE
const busy = 201; // PICO_STEP_BUSY

/** The contents of a voice's files. */
export interface PicoData {
  readonly textAnalysis: Uint8Array;
  readonly signal: Uint8Array;
  /** Pico itself. Default: the package's own file, which only Node can read. */
  readonly wasmBinary?: Uint8Array<ArrayBuffer>;
}

/** The output of a step of the engine; either part may be empty. */
interface Step {
  readonly samples: Buffer;
  readonly items: readonly PhoneItem[];
}

/**
 * Opens Pico with one voice. Its samples depend on earlier texts, even after `pico_resetEngine`, so
 * the whole memory is restored before each text.
 * @throws {Error} if the files are not Pico's
 */
export const openPicoEngine = async ({ textAnalysis, signal, wasmBinary }: PicoData) => {
  const pico = await SvoxPico(wasmBinary && { wasmBinary });
  const number = (at: number): number => new DataView(pico.HEAPU8.buffer).getInt32(at, true);
  const int16 = (at: number): number => new DataView(pico.HEAPU8.buffer).getInt16(at, true);
  const string = (text: string): number => {
    const bytes = Buffer.from(`${text}\0`);
    const at = pico._malloc(bytes.length);
    pico.HEAPU8.set(bytes, at);
    return at;
  };
  const require = (status: number, step: string): void => {
    if (status !== ok) throw new Error(`Pico failed (${step}, status ${status}).`);
  };

  const result = pico._malloc(4);
  require(pico._pico_initialize(pico._malloc(memoryBytes), memoryBytes, result), "start");
  const system = number(result);
  const voice = string("voice");
  require(pico._pico_createVoiceDefinition(system, voice), "voice");
  // Pico recognises its data by the name's extension.
  for (const [path, content] of [
    ["/text.bin", textAnalysis],
    ["/signal.bin", signal],
  ] as const) {
    pico.FS.writeFile(path, content);
    require(pico._pico_loadResource(system, string(path), result), "data");
    const name = pico._malloc(256);
    require(pico._pico_getResourceName(system, number(result), name), "data");
    require(pico._pico_addResourceToVoiceDefinition(system, voice, name), "data");
  }
  require(pico._pico_newEngine(system, voice, result), "engine");
  const engine = number(result);
  const input = pico._malloc(textBytes);
  const output = pico._malloc(samplesBytes);
  const size = pico.HEAPU8.length;
  const fresh = withoutTrailingZeros(pico.HEAPU8);

  /** Speaks a text. The end of the text ends a sentence, even without a full stop. */
  const steps = function* (text: string, phoneBuffer?: number): Generator<Step, void> {
    if (pico.HEAPU8.length !== size) throw new Error("The memory of Pico has grown.");
    pico.HEAPU8.set(fresh);
    pico.HEAPU8.fill(0, fresh.length);
    let written = 0;
    const bytes = Buffer.from(`${text}\0`);
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + textBytes);
      pico.HEAPU8.set(part, input);
      require(pico._pico_putTextUtf8(engine, input, part.length, result), "text");
      at += int16(result);
      for (let status = busy; status !== idle; ) {
        status = pico._pico_getData(engine, output, samplesBytes, result, result + 2);
        if (status !== busy && status !== idle) throw new Error(`Pico failed (status ${status}).`);
        const samples = Buffer.from(pico.HEAPU8.subarray(output, output + int16(result)));
        const read = phoneBuffer === undefined ? nothing : readPhoneItems(pico.HEAPU8, phoneBuffer, written);
        written = read.until;
        yield { samples, items: read.items };
      }
    }
  };

  for (const _ of steps(`a ${markTag(0)}b`));
  const phoneBuffer = findPhoneBuffer(pico.HEAPU8);
  return {
    /** Speaks a text with Pico's markup, step by step. */
    speak: (text: string): Generator<Step, void> => steps(text, phoneBuffer),
  };
};

/** A text, or a part of one. `text` is final when all steps of the part have been yielded. */
export interface PicoPart {
  readonly text: string;
}

/**
 * Speaks a text. Pico fails at a few sentences, before their first sample: for example, at one of
 * 40 French words without punctuation. If sentences were spoken before it, the text after them is
 * spoken as another part. Otherwise the text is spoken in two halves. A part without samples was
 * not spoken.
 */
export function* speakInParts(
  engine: PicoEngine,
  prosodyTags: string,
  text: string,
): Generator<Step & { readonly part: PicoPart }, void> {
  const part = { text };
  let bytes = 0;
  try {
    for (const step of engine.speak(prosodyTags + text)) {
      bytes += step.samples.length;
      yield { ...step, part };
    }
  } catch (error) {
    const end = bytes > 0 ? endOfSentences(engine, prosodyTags, text, bytes) : middleOf(text);
    if (end === undefined) throw error;
    part.text = text.slice(0, end);
    if (bytes === 0) yield* speakInParts(engine, prosodyTags, part.text);
    yield* speakInParts(engine, prosodyTags, text.slice(end));
  }
}

/** Returns the end of the first half of the words. Undefined if there are fewer than two words. */
const middleOf = (text: string): number | undefined => {
  const words = text.match(/\s*\S+/gu) ?? [];
  return words.length < 2 ? undefined : words.slice(0, Math.ceil(words.length / 2)).join("").length;
};

/**
 * Returns the end of the sentences whose samples take this many bytes. Undefined if there is none.
 */
const endOfSentences = (
  engine: PicoEngine,
  prosodyTags: string,
  text: string,
  bytes: number,
): number | undefined => {
  const ends = [...text.matchAll(/[.!?:;]/g)].map(({ index }) => index + 1);
  let [from, to] = [0, ends.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const end = ends[middle] as number;
    const spoken = bytesOf(engine, prosodyTags + text.slice(0, end));
    if (spoken === bytes) return end;
    if (spoken < bytes) from = middle + 1;
    else to = middle;
  }
  return undefined;
};

/**
 * Returns the number of bytes of the samples. Infinity if Pico fails: then the text has the
 * sentence at which it fails.
 */
const bytesOf = (engine: PicoEngine, text: string): number => {
  let bytes = 0;
  try {
    for (const { samples } of engine.speak(text)) bytes += samples.length;
    return bytes;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
};

const withoutTrailingZeros = (memory: Uint8Array): Uint8Array => {
  let end = memory.length;
  while (end > 0 && memory[end - 1] === 0) end--;
  return memory.slice(0, end);
};

const nothing = { items: [], until: 0 };

/** Pico's markup for a place in a text. It may change the speech of the words around it. */
export const markTag = (index: number): string => `<mark name="${index.toString(36)}"/>`;

/** Returns Pico's input for a request: its markup for the prosody, and the text without any. */
export const picoText = ({ text, level, speed, pitch }: Omit<PicoRequest, "voice">) => ({
  prosodyTags: `<volume level="${level}"><speed level="${speed}"><pitch level="${pitch}">`,
  text: text.replace(dangerous, " "),
});

/**
 * Matches `<`, which begins markup that could even read and write files, and control characters:
 * U+0000 ends a text.
 */
const dangerous = /[<\p{Cc}]/gu;
