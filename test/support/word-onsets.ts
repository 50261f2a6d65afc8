import type { Mark } from "../../src/domain/synthesis/marks.ts";
import { normalProsody } from "../../src/domain/synthesis/speech.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { collect } from "./collect.ts";

/** Words whose beginnings are audible if commas separate them, by espeak-ng voice. */
export const wordsByVoice: Readonly<Record<string, readonly string[]>> = {
  "gmw/en-US": [
    "apple",
    "mountain",
    "seven",
    "river",
    "garden",
    "yellow",
    "window",
    "orange",
    "number",
    "animal",
  ],
  "gmw/de": ["Wasser", "Morgen", "sieben", "Garten", "Lampe", "Regen", "Vogel", "Blume", "Messer", "Donner"],
  "gmw/nl": ["water", "morgen", "zeven", "groen", "lamp", "regen", "vogel", "bloem", "maan", "donder"],
  "roa/fr": [
    "maison",
    "jardin",
    "soleil",
    "nuage",
    "rouge",
    "lumière",
    "village",
    "montagne",
    "demain",
    "animal",
  ],
  "roa/es": ["agua", "mañana", "ventana", "siete", "río", "jardín", "amarillo", "naranja", "luna", "nube"],
  "roa/it": [
    "acqua",
    "mattina",
    "giardino",
    "sette",
    "fiume",
    "luna",
    "nuvola",
    "rosso",
    "montagna",
    "animale",
  ],
  "zle/ru": ["вода", "дом", "лампа", "река", "сад", "жёлтый", "окно", "луна", "море", "гора"],
  "zlw/pl": ["woda", "dom", "lampa", "rzeka", "ogród", "żółty", "okno", "niebo", "morze", "góra"],
  "gmq/sv": ["vatten", "morgon", "sju", "grön", "lampa", "regn", "fågel", "blomma", "måne", "dörr"],
  "inc/hi": ["नमस्ते", "दुनिया", "लाल", "नदी", "माता", "जल", "रात", "मकान", "नमक", "रोटी"],
};

const windowSeconds = 0.005;
/** A window is audible above this share of the loudest window's energy. */
const audible = 0.02;
/** Shorter silences are within words. */
const pauseWindows = 26;

/** The milliseconds at which audio follows a pause: s16le samples. */
const onsets = (pcm: Buffer, sampleRate: number): number[] => {
  const size = Math.round(windowSeconds * sampleRate);
  const energies: number[] = [];
  for (let from = 0; 2 * (from + size) <= pcm.length; from += size) {
    let sum = 0;
    for (let at = from; at < from + size; at++) sum += pcm.readInt16LE(2 * at) ** 2;
    energies.push(Math.sqrt(sum / size));
  }
  const threshold = audible * energies.reduce((most, energy) => Math.max(most, energy), 0);
  const found: number[] = [];
  let quiet = pauseWindows;
  energies.forEach((energy, index) => {
    if (energy <= threshold) quiet++;
    else {
      if (quiet >= pauseWindows) found.push((1000 * index * size) / sampleRate);
      quiet = 0;
    }
  });
  return found;
};

/**
 * Returns, for each word of a sentence, how much later its mark is than its beginning according to
 * the audio's energy, in milliseconds.
 */
export const wordTimingErrors = async (
  engine: Engine,
  voice: string,
  words: readonly string[],
): Promise<number[]> => {
  const request = {
    text: `${words.join(", ")}.`,
    ssml: false,
    voice: `espeak:${voice}`,
    lang: "en",
    prosody: normalProsody,
    format: "wav",
  } as const;
  const { audio, encoding, marks } = await engine.synthesize(request, new AbortController().signal);
  const pcm = Buffer.concat(await collect(audio));
  const heard = onsets(pcm, encoding.kind === "pcm" ? encoding.sampleRate : 0);
  const marked = (marks?.() ?? []).filter(({ type }: Mark) => type === "word");
  if (marked.length !== words.length || heard.length !== words.length) {
    throw new Error(`${request.text} has ${marked.length} marks, and ${heard.length} words are heard`);
  }
  return marked.map(({ time }, at) => time - (heard[at] ?? Number.NaN));
};

/**
 * Returns the words of the sentence with this index, which begins with the word of this index. Each
 * further round through the words skips more of them.
 */
export const sentenceOf = (words: readonly string[], index: number): string[] =>
  Array.from({ length: 5 }, (_, at) => {
    const step = [1, 3, 7, 9][Math.floor(index / words.length) % 4] ?? 1;
    return words[(index + at * step) % words.length] ?? "";
  });

export const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
