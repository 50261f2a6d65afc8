import type { Engine } from "../../src/engines/engine.ts";
import { picoVoices } from "./pico.ts";
import {
  escaped,
  type FuzzCase,
  generators,
  many,
  pick,
  type Random,
  type Spoken,
  speak,
  tokens,
  words,
} from "./speech-fuzz.ts";

/** The voices of each program of natural voices. */
export const fuzzedVoices: Readonly<Record<"hibari" | "pico", readonly Voice[]>> = {
  hibari: [{ voice: "hibari:heart", lang: "en-US" }],
  pico: picoVoices.map((lang) => ({ voice: `pico:${lang}`, lang })),
};

type Voice = Pick<FuzzCase, "voice" | "lang">;

const tags = [
  "<break time='90ms'/>",
  "<break/>",
  "<mark name='m'/>",
  "<p>",
  "<s>",
  "<emphasis>",
  "<prosody rate='150%'>",
  "<prosody pitch='+10%' volume='soft'>",
  "<sub alias='Mr. 5 x'>",
  "<say-as interpret-as='characters'>",
  "<say-as interpret-as='cardinal'>",
  "<phoneme alphabet='ipa' ph='təˈmeɪtoʊ'>",
  "<lang xml:lang='de-DE'>",
  "<voice language='fr-FR'>",
];

const document = (random: Random): string => {
  const part = (depth: number): string => {
    const tag = pick(random, tags);
    if (depth > 3 || random(3) === 0) return escaped(pick(random, generators)(random).slice(0, 12));
    if (tag.endsWith("/>")) return tag;
    const inside = many(random, 3, () => part(depth + 1), pick(random, ["", " "]));
    return `${tag}${inside}</${/\w[\w-]*/.exec(tag)}>`;
  };
  return `<speak>${many(random, 6, () => part(0), pick(random, ["", " "]))}</speak>`;
};

const fragments = [
  ...[
    "# ",
    "## ",
    "* ",
    "- ",
    "> ",
    "**",
    "__",
    "`",
    "```\n",
    "[a](http://b.c/d)",
    "![x](y.png)",
    "| a | b |\n",
  ],
  ...[
    "\n\n",
    "---\n",
    "1. ",
    "<b>",
    "</b>",
    "&amp;",
    "&#65;",
    "<speak>",
    "<break/>",
    "]]>",
    "<!--",
    "{{x}}",
    "\\",
  ],
  ...[
    "\u202e",
    "\u2066",
    "\u200f",
    "\u00ad",
    "\ufeff",
    "\u0000",
    "\u0007",
    "\u2028",
    "…",
    "?!?!",
    "“",
    "”",
    "—",
  ],
  ...["a\u0301\u0327", "q\u0308", "\u0301", "ﬁ", "Ⅷ", "①", "𝒜", "ſ", "ß", "İ", "ı", "ǅ", "ﷺ", "\u{e0041}"],
];

const furtherGenerators: readonly ((random: Random) => string)[] = [
  (random) => many(random, 30, () => (random(3) ? pick(random, words) : pick(random, fragments)), " "),
  (random) => many(random, 40, () => pick(random, random(2) ? fragments : tokens)),
  (random) => many(random, 900, () => String(random(10))),
  (random) => pick(random, [...words, ...fragments, ...tokens]).repeat(1 + random(400)),
  (random) => many(random, 60, () => pick(random, [...words, ...tokens]), " "),
];

/** The longest text of a request. */
const longest = 5000;

const shortened = (text: string, most: number): string => Array.from(text).slice(0, most).join("");

/** A text for one of the voices, or a document. One in 150 plain texts is long. */
export const naturalFuzzCase = (random: Random, voices: readonly Voice[]): FuzzCase => {
  const voice = pick(random, voices);
  const prosody = {
    rate: pick(random, [0.5, 1, 1, 1.7, 2, 2, 2]),
    pitch: pick(random, [0, 1, 1, 2]),
    volume: pick(random, [0.3, 1, 1]),
  };
  if (random(5) === 0) return { ...voice, prosody, ssml: true, one: document(random) };
  const generate = pick(random, random(2) ? generators : furtherGenerators);
  const plain = { ...voice, prosody, ssml: random(12) === 0 };
  if (random(150) > 0) return { ...plain, one: shortened(generate(random), random(8) === 0 ? 120 : 40) };
  const one = shortened(generate(random).repeat(longest), longest);
  return { ...plain, prosody: { ...prosody, rate: 2 }, one };
};

export interface Finding {
  /** Identifies its samples and marks, or the refusal. */
  readonly digest: string;
  readonly seconds: number;
  /** What is wrong. */
  readonly fault?: string | undefined;
}

/** Speaks a text, and says what is wrong. */
export const findInNatural = async (engine: Engine, fuzz: FuzzCase): Promise<Finding> => {
  try {
    const spoken = await speak(engine, fuzz, fuzz.one);
    const { digest, seconds } = spoken;
    return { digest, seconds, fault: digest.startsWith("refused") ? undefined : faultIn(spoken) };
  } catch (error) {
    return { digest: String(error), seconds: 0, fault: String(error) };
  }
};

/** No text takes longer to speak. */
const maxSeconds = 7_200;

const faultIn = ({ seconds, marks, text }: Spoken): string | undefined => {
  if (seconds < 0.02 || seconds > maxSeconds) return `takes ${seconds} s`;
  if (!marks) return "has no marks";
  const characters = [...text].length;
  let [time, end] = [0, 0];
  for (const mark of marks) {
    if (mark.time < time) return `${JSON.stringify(mark)} is before ${time} ms`;
    if (mark.time > Math.ceil(1000 * seconds)) return `${JSON.stringify(mark)} is after ${seconds} s`;
    if (!(mark.start >= 0 && mark.start < mark.end && mark.end <= characters))
      return `${JSON.stringify(mark)} is outside of ${characters} characters`;
    time = mark.time;
    if (mark.type !== "word") continue;
    if (mark.start < end) return `${JSON.stringify(mark)} begins before ${end}`;
    end = mark.end;
  }
  return end === 0 && /\p{L}|\p{N}/u.test(text.replace(/<[^>]*>/g, "")) ? "has no marks of words" : undefined;
};
