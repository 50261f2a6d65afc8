import type { detectLanguage } from "../../domain/text/detection/detect-language.ts";

/** A text with the language that the page declares for it. */
interface DeclaredText {
  readonly text: string;
  readonly lang?: string | undefined;
}

/**
 * The language of each text; undefined if it is unknown. A declared language counts, unless the
 * text's script cannot be that language, or English was declared and the words are of another
 * language: templates of pages declare English, whatever is written into them. Then script and
 * words decide. Of a text that declares no language, they always do.
 */
export const languagesOf = async (texts: readonly DeclaredText[]): Promise<(string | undefined)[]> => {
  const declared = texts.map(({ text, lang }) => ({ text, lang: canonicalTag(lang) }));
  const detect = declared.some(isDoubtful) ? await loadDetection() : undefined;
  if (!detect) return declared.map(({ lang }) => lang);
  const found = declared.map(({ text, lang }) => {
    if (lang === undefined || isEnglish(lang) || !canBe(text, lang)) return detect(text);
    return undefined;
  });
  const likely = mostOf(declared.map(({ text, lang }, at) => ({ text, lang: lang && found[at] })));
  return declared.map(({ text, lang }, at) => {
    if (found[at] !== undefined) return found[at];
    if (lang === undefined) return undefined;
    if (!canBe(text, lang)) return "en"; // which detection never names
    // A heading may be too short for its words to decide.
    return isEnglish(lang) && !hasEnglishWords(text) ? (likely ?? lang) : lang;
  });
};

/** `en_GB`, which is no tag, is read as `en-GB`; undefined for no language. */
export const canonicalTag = (tag: string | undefined): string | undefined => {
  try {
    return tag === undefined ? undefined : Intl.getCanonicalLocales(tag.replaceAll("_", "-"))[0];
  } catch {
    return undefined;
  }
};

/** Norwegian's two ways to write are one language that is spoken. */
export const primaryLanguage = (tag: string): string => {
  const [language = ""] = (canonicalTag(tag) ?? tag).toLowerCase().split("-");
  return /^(?:no|nn)$/.test(language) ? "nb" : language;
};

type Detect = typeof detectLanguage;

/** A copy of the library without these rules trusts the page. */
const loadDetection = (): Promise<Detect | undefined> =>
  import("../languages.ts").then(
    ({ detectLanguage }) => detectLanguage,
    () => undefined,
  );

const isEnglish = (lang: string): boolean => primaryLanguage(lang) === "en";

/** True if script and words may decide otherwise than the page: then their rules are loaded. */
const isDoubtful = ({ text, lang }: DeclaredText): boolean =>
  lang === undefined || isEnglish(lang) ? !isSurelyEnglish(text) : !canBe(text, lang);

/** Words that no other language writes. Texts have one in 20 words at least. */
const englishWords =
  /(?<!\p{L})(?:the|and|that|this|with|from|you|they|which|have|been|their|would|what)(?!\p{L})/giu;
const leastWords = 5;
/** Detection reads no more. */
const sampleLength = 400;

const hasEnglishWords = (text: string): boolean => countOf(text.slice(0, sampleLength), englishWords) > 0;

const isSurelyEnglish = (text: string): boolean => {
  const sample = text.slice(0, sampleLength);
  if (!canBe(sample, "en")) return false;
  const words = countOf(sample, /\p{L}+/gu);
  return words < leastWords || countOf(sample, englishWords) * 20 >= words;
};

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** The scripts that Unicode's code of several scripts stands for. */
const parts: Readonly<Record<string, string>> = {
  Hans: "Hani",
  Hant: "Hani",
  Jpan: "Hani Hira Kana",
  Kore: "Hang Hani",
};

/** Languages that are written in the Latin script too. */
const alsoLatin = /^(?:sr|bs|uz|kk|ky|tt|tk|mn|ku|ug|cnr|sh)$/;

/** True if at least half of the letters are of a script in which the language is written. */
export const canBe = (text: string, lang: string): boolean => {
  const locale = new Intl.Locale(canonicalTag(lang) ?? "und").maximize();
  const { script } = locale;
  if (script === undefined || alsoLatin.test(locale.language)) return true;
  const names = (parts[script] ?? script).split(" ").map((name) => `\\p{Script=${name}}`);
  try {
    return countOf(text, new RegExp(`[${names.join("")}]`, "gu")) * 2 >= countOf(text, /\p{L}/gu);
  } catch {
    return true; // a script that this browser does not know
  }
};

/** The language of most of the texts, by length; undefined if that is unknown. */
const mostOf = (texts: readonly DeclaredText[]): string | undefined => {
  const lengths = new Map<string | undefined, number>();
  for (const { text, lang } of texts) lengths.set(lang, (lengths.get(lang) ?? 0) + text.length);
  return [...lengths].sort(([, one], [, other]) => other - one)[0]?.[0];
};
