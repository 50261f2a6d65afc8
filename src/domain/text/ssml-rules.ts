import { milliseconds } from "./ssml-breaks.ts";

/**
 * The elements and attributes of SSML that engines may get. Prefixed attributes and namespaces are
 * dropped; everything else is refused.
 */
export interface ElementRule {
  /**
   * `keep`: kept; `empty`: kept without its content, which follows it; `unwrap`: only the content
   * is kept.
   */
  readonly as: "keep" | "empty" | "unwrap";
  /** Attributes that are kept, with their syntax. */
  readonly attributes: Readonly<Record<string, Shape>>;
  /** Attributes that are accepted and dropped. */
  readonly dropped?: readonly string[];
  /** True for Azure's extensions: only its voices get them. */
  readonly isAzures?: true;
}

type Shape = (value: string) => boolean;

const oneOf =
  (...words: readonly string[]): Shape =>
  (value) =>
    words.includes(value);

const matching =
  (pattern: RegExp): Shape =>
  (value) =>
    pattern.test(value);

/** Matches the form if its first group is a number from `min` to `max`. */
const within =
  (form: RegExp, min: number, max: number): Shape =>
  (value) => {
    const number = form.exec(value)?.[1];
    return number !== undefined && Number(number) >= min && Number(number) <= max;
  };

const either =
  (...shapes: readonly Shape[]): Shape =>
  (value) =>
    shapes.some((shape) => shape(value));

/**
 * Matches a fifth to three times the normal rate. At a lower rate, a short text would take hours.
 */
const rate = either(
  oneOf("x-slow", "slow", "medium", "fast", "x-fast", "default"),
  within(/^(\d{1,3}(?:\.\d{1,3})?)%$/, 20, 300),
  within(/^([+-]\d{1,3}(?:\.\d{1,3})?)%$/, -80, 200),
  within(/^(\d(?:\.\d{1,3})?)$/, 0.2, 3),
);

const pitch = either(
  oneOf("x-low", "low", "medium", "high", "x-high", "default"),
  within(/^([+-]\d{1,3}(?:\.\d{1,3})?)%$/, -100, 200),
  within(/^([+-]\d{1,2}(?:\.\d{1,3})?)st$/, -24, 24),
  within(/^([+-]\d{1,3}(?:\.\d{1,3})?)Hz$/, -500, 500),
  within(/^(\d{1,3}(?:\.\d{1,3})?)Hz$/, 0, 600),
);

const volume = either(
  oneOf("silent", "x-soft", "soft", "medium", "loud", "x-loud", "default"),
  within(/^(\d{1,3}(?:\.\d{1,3})?)$/, 0, 100),
  within(/^([+-]\d{1,3}(?:\.\d{1,3})?)%$/, -100, 100),
  within(/^([+-]\d{1,2}(?:\.\d{1,3})?)dB$/, -60, 20),
);

/** Matches seconds or milliseconds, as in CSS. */
const timeForm = /^\+?(?:\d{1,6}(?:\.\d{1,9})?|\.\d{1,9})m?s$/;
const time = matching(timeForm);

/** Matches a time of at most this many seconds. */
const timeTo =
  (most: number): Shape =>
  (value) =>
    timeForm.test(value) && milliseconds(value) <= most * 1000;

const readings = oneOf(
  ...["address", "cardinal", "characters", "currency", "date", "digits", "expletive", "fraction", "name"],
  ...["number", "ordinal", "spell-out", "telephone", "time", "unit", "verbatim"],
);

const azures = (as: ElementRule["as"], attributes: ElementRule["attributes"]): ElementRule => ({
  ...{ as, attributes, isAzures: true },
});

export const elementRules: ReadonlyMap<string, ElementRule> = new Map<string, ElementRule>([
  // espeak-ng would change the voice at these elements if they had xml:lang, so the attribute is
  // left out.
  ["speak", { as: "keep", attributes: {}, dropped: ["version"] }],
  ["p", { as: "keep", attributes: {} }],
  ["s", { as: "keep", attributes: {} }],
  ["lang", { as: "keep", attributes: { "xml:lang": matching(/^[a-z]{2,8}(-[a-z0-9]{1,8}){0,4}$/i) } }],
  [
    "break",
    {
      as: "empty",
      attributes: {
        strength: oneOf("none", "x-weak", "weak", "medium", "strong", "x-strong"),
        time,
      },
    },
  ],
  [
    "say-as",
    {
      as: "keep",
      attributes: {
        "interpret-as": readings,
        format: matching(/^[A-Za-z0-9:,. -]{1,20}$/),
        detail: matching(/^[A-Za-z0-9]{1,20}$/),
      },
    },
  ],
  ["emphasis", { as: "keep", attributes: { level: oneOf("none", "reduced", "moderate", "strong") } }],
  ["prosody", { as: "keep", attributes: { rate, pitch, range: pitch, volume } }],
  // Brackets are not allowed, because `[[` begins espeak-ng's own phoneme notation.
  [
    "phoneme",
    { as: "keep", attributes: { alphabet: oneOf("ipa", "x-sampa"), ph: matching(/^[^\p{C}[\]]{1,200}$/u) } },
  ],
  // The alias replaces the content as plain text, which no engine can read as anything else.
  ["sub", { as: "unwrap", attributes: { alias: matching(/^\P{Cc}{1,500}$/u) } }],
  // A name is kept only where a dialect knows the voice: any other name could open a file, or
  // select a more expensive voice.
  [
    "voice",
    {
      as: "unwrap",
      attributes: {},
      dropped: ["name", "gender", "age", "variant", "languages", "required", "effect"],
    },
  ],
  // The places of marks are those in the text as sent (spoken-text.ts).
  ["mark", { as: "unwrap", attributes: {}, dropped: ["name"] }],
  ["bookmark", { as: "unwrap", attributes: {}, dropped: ["mark"] }],
  // `mstts:backgroundaudio` and `mstts:voiceconversion` are not allowed, because they name
  // addresses.
  [
    "mstts:express-as",
    azures("keep", {
      style: matching(/^[A-Za-z][\w-]{0,39}$/),
      styledegree: within(/^(\d(?:\.\d{1,3})?)$/, 0.01, 2),
      role: matching(/^[A-Za-z]{1,39}$/),
    }),
  ],
  ["mstts:silence", azures("empty", { type: matching(/^[A-Za-z]{1,20}(?:-exact)?$/), value: timeTo(5) })],
  ["mstts:audioduration", azures("empty", { value: timeTo(300) })],
  ["mstts:viseme", azures("empty", { type: matching(/^[A-Za-z_]{1,39}$/) })],
]);
