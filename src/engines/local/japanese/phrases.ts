import type { Replacement } from "../../../domain/text/mapped-text.ts";

/** A word of a text, as the dictionary describes it. */
export interface Token {
  readonly surface: string;
  readonly partOfSpeech?: string;
  readonly partOfSpeechSubcategory1?: string;
  readonly baseForm?: string;
  /**
   * The pronunciation in katakana, with `ー` for long vowels; undefined if the dictionary does not
   * know the word.
   */
  readonly pronunciation?: string;
}

/**
 * The kana of words with kanji and of particles, and a blank before each phrase. espeak-ng stresses
 * the phrases between blanks, without a pause, and reports the time of each.
 */
export const readingsOfTokens = (tokens: readonly Token[], start = 0): Replacement[] => {
  const readings: Replacement[] = [];
  let at = start;
  for (let index = 0; index < tokens.length; ) {
    const irregular = irregularAt(tokens, index);
    const count = irregular?.count ?? 1;
    const words = tokens.slice(index, index + count);
    const kana = irregular?.kana ?? kanaOf(words[0], tokens[index - 1], tokens[index + 1]);
    const end = at + surfaceOf(words).length;
    if (beginsPhrase(words[0], tokens[index - 1])) readings.push({ start: at, end: at, written: " " });
    if (kana !== undefined) readings.push({ start: at, end, written: kana });
    at = end;
    index += count;
  }
  return readings;
};

const surfaceOf = (tokens: readonly Token[]): string => tokens.map(({ surface }) => surface).join("");

const japanese = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+$/u;
const kanji = /\p{Script=Han}/u;

/** Returns undefined if the word stays as it is. */
const kanaOf = (
  token: Token | undefined,
  previous: Token | undefined,
  next: Token | undefined,
): string | undefined => {
  if (token?.pronunciation === undefined || !japanese.test(token.surface)) return undefined;
  const { surface, pronunciation, baseForm } = token;
  // 行った is a form of 行く and of 行う, which has an object. The dictionary prefers 行う.
  if (surface === "行っ" && baseForm === "行う" && previous?.surface !== "を") return "いっ";
  const kana = hiragana(pronunciation);
  if (kanji.test(surface)) return kanji.test(kana) ? undefined : kana;
  const isParticle = /[はへ]/.test(surface) && /[わえ]/.test(kana);
  const isLaughter = previous?.surface.endsWith(surface) || next?.surface.startsWith(surface);
  return isParticle && !isLaughter ? kana : undefined;
};

const hiragana = (katakana: string): string =>
  katakana.replace(/[ァ-ヶ]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 0x60));

const isNumber = ({ surface, partOfSpeechSubcategory1 }: Token): boolean =>
  partOfSpeechSubcategory1 === "数" || /^\p{Nd}+$/u.test(surface);

/** Parts of speech of words that continue a phrase: particles, auxiliary verbs, signs. */
const continuing: ReadonlySet<string | undefined> = new Set(["助詞", "助動詞", "記号", undefined]);

const beginsPhrase = (token: Token | undefined, previous: Token | undefined): boolean => {
  if (!token || !previous || !japanese.test(token.surface) || !japanese.test(previous.surface)) return false;
  const { partOfSpeech, partOfSpeechSubcategory1: kind, baseForm } = token;
  if (
    continuing.has(partOfSpeech) ||
    kind === "接尾" ||
    kind === "非自立" ||
    previous.partOfSpeech === "接頭詞"
  )
    return false;
  if (previous.partOfSpeech !== "名詞") return true;
  // A noun after a noun is part of it, and する makes it a verb. Words for times stand alone.
  if (partOfSpeech !== "名詞") return baseForm !== "する";
  return previous.partOfSpeechSubcategory1 === "副詞可能";
};

/** Finds the reading of words that are read otherwise than the dictionary reads them one by one. */
const irregularAt = (
  tokens: readonly Token[],
  index: number,
): { readonly count: number; readonly kana: string } | undefined => {
  for (let count = Math.min(longest, tokens.length - index); count > 0; count--) {
    const words = surfaceOf(tokens.slice(index, index + count)).replace(
      /^\d+/,
      (digits) => numerals.get(digits) ?? digits,
    );
    const previous = tokens[index - 1];
    const isAfterNumber = previous !== undefined && isNumber(previous);
    const isDay = previous?.surface.endsWith("月") && words === "一日";
    const next = tokens[index + count]?.surface ?? "";
    const kana =
      (isDay ? "ついたち" : undefined) ??
      (isAfterNumber ? undefined : alone.get(words)) ??
      anywhere.get(words) ??
      (words === "何" && /^[でだとのな]/.test(next) ? "なん" : undefined) ??
      (previous && /\d$/.test(previous.surface) ? counter(words, previous.surface) : undefined);
    if (kana !== undefined) return { count, kana };
  }
  return undefined;
};

/**
 * Reads a counter after digits. espeak-ng itself reads the digits, which the dictionary does not
 * recognise as a number.
 */
const counter = (word: string, digits: string): string | undefined => {
  if (word === "月") return "がつ";
  if (word === "分") return /[013468]$/.test(digits) ? "ぷん" : "ふん";
  return undefined;
};

/** The numbers that the tables below contain. */
const numerals: ReadonlyMap<string, string> = new Map([
  ...Array.from("一二三四五六七八九十", (numeral, at) => [String(at + 1), numeral] as const),
  ["14", "十四"],
  ["20", "二十"],
  ["24", "二十四"],
]);

const table = (rows: string): ReadonlyMap<string, string> =>
  new Map(rows.split(/\s+/).map((row) => row.split("=") as [string, string]));

/** These readings apply unless a number precedes. */
const alone = table(
  `一人=ひとり 二人=ふたり 二日=ふつか 三日=みっか 四日=よっか 五日=いつか
  六日=むいか 七日=なのか 八日=よーか 九日=ここのか 十日=とーか
  十四日=じゅーよっか 二十日=はつか 二十四日=にじゅーよっか
  二十歳=はたち`,
);

/**
 * These readings always apply: numerals and counters that change each other's sounds, and words for
 * which the dictionary has a rarer reading.
 */
const anywhere = table(
  `一本=いっぽん 三本=さんぼん 六本=ろっぽん 八本=はっぽん 十本=じゅっぽん 一匹=いっぴき 三匹=さんびき 六匹=ろっぴき 八匹=はっぴき 十匹=じゅっぴき
  一杯=いっぱい 三杯=さんばい 六杯=ろっぱい 八杯=はっぱい 十杯=じゅっぱい 三百=さんびゃく 六百=ろっぴゃく 八百=はっぴゃく 三千=さんぜん 八千=はっせん
  一分=いっぷん 三分=さんぷん 四分=よんぷん 六分=ろっぷん 八分=はっぷん 一回=いっかい 六回=ろっかい 八回=はっかい 十回=じゅっかい
  一階=いっかい 三階=さんがい 六階=ろっかい 八階=はっかい 十階=じゅっかい 一個=いっこ 六個=ろっこ 八個=はっこ 十個=じゅっこ
  一冊=いっさつ 八冊=はっさつ 十冊=じゅっさつ 一歳=いっさい 八歳=はっさい 十歳=じゅっさい 四人=よにん 四円=よえん 四年=よねん
  四月=しがつ 七月=しちがつ 九月=くがつ 四時=よじ 七時=しちじ 九時=くじ 日本=にほん 明後日=あさって 一日中=いちにちじゅー 一年中=いちねんじゅー 世界中=せかいじゅー 日本中=にほんじゅー
  今日中=きょーじゅー の間=のあいだ その間=そのあいだ この間=このあいだ あの間=あのあいだ`,
);

const longest = 4;
