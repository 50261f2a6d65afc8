import { createHash } from "node:crypto";
import { releaseSeed } from "../../src/domain/catalog/seed/seed.ts";
import { Invalid } from "../../src/domain/errors.ts";
import type { Mark } from "../../src/domain/synthesis/marks.ts";
import { normalProsody, type Prosody } from "../../src/domain/synthesis/speech.ts";
import { parseSsml } from "../../src/domain/text/ssml.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { collect } from "./collect.ts";

/** A generator of 32-bit numbers (mulberry32). */
export const randomOf = (seed: number) => {
  let state = seed >>> 0;
  /** From 0 to below `bound`. */
  return (bound: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
};

export type Random = ReturnType<typeof randomOf>;

export const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)] as T;
export const many = (random: Random, most: number, make: () => string, between = ""): string =>
  Array.from({ length: 1 + random(most) }, make).join(between);

/** First and last code points. */
const blocks: readonly (readonly [number, number])[] = [
  ...([
    [0x21, 0x7e],
    [0xa1, 0x24f],
    [0x250, 0x2ff],
    [0x370, 0x3ff],
    [0x400, 0x52f],
    [0x531, 0x587],
  ] as const),
  ...([
    [0x5d0, 0x5ea],
    [0x620, 0x6ff],
    [0x904, 0x97f],
    [0x985, 0x9ff],
    [0xa05, 0xa75],
    [0xa85, 0xaff],
  ] as const),
  ...([
    [0xb05, 0xb77],
    [0xb85, 0xbfa],
    [0xc05, 0xc7f],
    [0xc85, 0xcff],
    [0xd05, 0xd7f],
    [0xd85, 0xdf4],
  ] as const),
  ...([
    [0xe01, 0xe5b],
    [0xe81, 0xedf],
    [0xf00, 0xf6c],
    [0x1000, 0x109f],
    [0x10a0, 0x10ff],
    [0x1100, 0x11ff],
  ] as const),
  ...([
    [0x1200, 0x137f],
    [0x13a0, 0x13fd],
    [0x1780, 0x17f9],
    [0x1e00, 0x1fff],
    [0x2000, 0x22ff],
    [0x2460, 0x27bf],
  ] as const),
  ...([
    [0x3041, 0x30ff],
    [0x3105, 0x312f],
    [0x3200, 0x33ff],
    [0x4e00, 0x4fff],
    [0xac00, 0xad00],
    [0xfb00, 0xfdff],
  ] as const),
  ...([
    [0xff01, 0xffdc],
    [0x10330, 0x1034a],
    [0x13000, 0x13040],
    [0x1d400, 0x1d4ff],
    [0x1f300, 0x1f64f],
    [0x1f900, 0x1f9ff],
  ] as const),
];
const marks = ["\u0301", "\u0308", "\u0327", "\u20dd", "\u200d", "\ufe0f", "\u0651"];
export const tokens = [
  ...[
    "A.",
    "U.S.A.",
    "s'",
    "x ",
    "a.b.c.",
    ".a",
    "[=²A",
    "1.",
    "1,",
    "7",
    "77 ",
    "(a)",
    '"a" ',
    "a/b",
    "-1 ",
    "½ ",
    "$5 ",
  ],
  ...[
    "W",
    "xyz",
    "ab",
    "Qq",
    "é",
    "日",
    "あ",
    "한",
    "ก",
    "क्ष",
    "ב",
    "👨‍👩‍👧‍👦",
    "🙂",
    "🇩🇪",
    "→",
    "€",
    "%",
    "@",
    "&",
    "_",
    "*",
    "#1 ",
  ],
  ...[
    "i.e. ",
    "Dr. ",
    "No. 5 ",
    "II ",
    "3:45 ",
    "2026-11-26 ",
    "10 000 ",
    "http://a.b/c?d=e ",
    "\n",
    "\t",
    "... ",
    "—",
    "'",
    "`",
    "~",
  ],
];
export const words = [
  "hello",
  "Straße",
  "naïve",
  "мир",
  "κόσμος",
  "世界",
  "日本",
  "สวัสดี",
  "नमस्ते",
  "שלום",
  "مرحبا",
  "NASA",
  "iPhone",
  "the",
];

const character = (random: Random): string => {
  const [first, last] = pick(random, blocks);
  return String.fromCodePoint(first + random(last - first + 1));
};

export const generators: readonly ((random: Random) => string)[] = [
  (random) => {
    const [first, last] = pick(random, blocks);
    return many(random, 60, () => (random(6) ? String.fromCodePoint(first + random(last - first + 1)) : " "));
  },
  (random) => many(random, 40, () => (random(4) ? character(random) : " ")),
  (random) => pick(random, tokens).repeat(1 + random(120)),
  (random) => many(random, 40, () => pick(random, tokens)),
  (random) => many(random, 30, () => pick(random, words), pick(random, [" ", ", ", "-", "", ". "])),
  (random) => many(random, 200, () => String.fromCharCode(97 + random(26))),
  (random) => many(random, 60, () => String(random(10))),
  (random) => many(random, 30, () => pick(random, words) + pick(random, marks).repeat(random(12)), " "),
  (random) =>
    many(
      random,
      40,
      () => String.fromCodePoint(0x1f300 + random(0x350)) + pick(random, ["", "\u200d", "\ufe0f", "🏽", " "]),
    ),
  (random) => many(random, 80, () => String.fromCharCode(33 + random(15)), pick(random, ["", " "])),
  (random) =>
    many(
      random,
      60,
      () => `${String.fromCharCode(65 + random(26))}${pick(random, [".", "", " ", "'", "-"])}`,
    ),
];

export interface FuzzCase {
  readonly voice: string;
  readonly lang: string;
  /** True: `one` is put in a document, unless it is one. */
  readonly ssml: boolean;
  readonly one: string;
  /** Undefined: `one` is spoken alone. */
  readonly other?: string;
  /** Default: fast, which is cheaper. */
  readonly prosody?: Prosody;
}

/** The voices that the service has for free: each language, and each tool. */
const voices = releaseSeed().systemVoices.flatMap(({ voiceName, lang }) =>
  lang !== undefined && /^(?:espeak|flite):/.test(voiceName ?? "")
    ? [{ voice: voiceName as string, lang }]
    : [],
);

/** The most characters of a text that is spoken alone: short texts are cheaper. */
const short = 24;

export const fuzzCase = (random: Random): FuzzCase => {
  const generate = pick(random, generators);
  const voice = { ...pick(random, voices), ssml: random(8) === 0 };
  const one = generate(random);
  return random(8) === 0
    ? { ...voice, one, other: generate(random) }
    : { ...voice, one: Array.from(one).slice(0, short).join("") };
};

/** Fast speech is cheaper. */
const fast = { ...normalProsody, rate: 2.5 };

const never = new AbortController().signal;
export const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

export interface Spoken {
  /** 0 if the text is refused. */
  readonly seconds: number;
  /** The digest of its samples and marks. */
  readonly digest: string;
  readonly marks?: readonly Mark[] | undefined;
  readonly text: string;
}

const textOf = ({ ssml }: FuzzCase, words: string): string => {
  if (!ssml) return words.normalize("NFC");
  if (words.startsWith("<speak>")) return parseSsml(words);
  return parseSsml(`<speak><p>${escaped(words.replace(/[^\P{C}\n\t\u200d]/gu, ""))}</p></speak>`);
};

/** @throws what is not a refusal */
export const speak = async (engine: Engine, fuzz: FuzzCase, words: string): Promise<Spoken> => {
  const { voice, lang, ssml, prosody = fast } = fuzz;
  try {
    const text = textOf(fuzz, words);
    const request = { text, ssml, voice, lang, prosody, format: "wav" } as const;
    const { audio, encoding, marks } = await engine.synthesize(request, never);
    const bytes = Buffer.concat(await collect(audio));
    const hash = createHash("sha256").update(bytes);
    return {
      seconds: encoding.kind === "pcm" ? bytes.length / 2 / encoding.sampleRate : 0,
      digest: hash.update(JSON.stringify(marks?.() ?? [])).digest("hex"),
      marks: marks?.(),
      text,
    };
  } catch (error) {
    if (error instanceof Invalid) return { seconds: 0, digest: `refused: ${error.message}`, text: words };
    throw error;
  }
};

const secondsOf = async (engine: Engine, fuzz: FuzzCase, words: string): Promise<number> =>
  (await speak(engine, fuzz, words)).seconds;

/** Identifies the samples of its first text, or the failure. */
export const digestOf = (engine: Engine, fuzz: FuzzCase): Promise<string> =>
  speak(engine, fuzz, fuzz.one).then(({ digest }) => digest, String);

/**
 * What is wrong, or undefined. Two texts take about as long together as apart, but for their
 * pauses.
 */
export const faultOf = async (engine: Engine, fuzz: FuzzCase): Promise<string | undefined> => {
  try {
    const one = await secondsOf(engine, fuzz, fuzz.one);
    if (fuzz.other === undefined) return undefined;
    const other = await secondsOf(engine, fuzz, fuzz.other);
    const both = await secondsOf(engine, fuzz, `${fuzz.one} ${fuzz.other}`);
    const isRefused = both === 0 && (one === 0 || other === 0);
    const least = 0.75 * (one + other) - 1;
    if (isRefused || both >= least) return undefined;
    return `${both.toFixed(2)} s instead of ${one.toFixed(2)} s and ${other.toFixed(2)} s`;
  } catch (error) {
    return String(error);
  }
};
