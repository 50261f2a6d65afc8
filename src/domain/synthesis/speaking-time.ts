/** Seconds per character at normal rate, for slow voices. */
const letter = 0.1;
const others: readonly (readonly [RegExp, number])[] = [
  [/[\p{L}\p{M}]/u, letter],
  [/\p{Extended_Pictographic}/u, 1.5], // read out by its name
  [/\p{N}/u, 0.5],
  [/[.!?…。！？\n]/u, 0.6],
  [/\p{Z}/u, 0],
  [/\p{S}/u, 0.6],
  [/\p{P}/u, 0.3],
];
/** Each of these characters is a syllable or more. */
const syllables = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/**
 * Estimates the duration of speech, rather too high than too low. The estimate of a text is the sum
 * of the estimates of its parts.
 */
export const speakingSeconds = (text: string): number => {
  let seconds = 0;
  for (const sign of text) seconds += secondsOf(sign);
  return seconds;
};

const secondsOf = (sign: string): number => {
  if (sign < "\u0080") return ascii(sign);
  return syllables.test(sign) ? 0.3 : bySort(sign);
};

const bySort = (sign: string): number => others.find(([sort]) => sort.test(sign))?.[1] ?? 0;

const asciiSeconds = Array.from({ length: 0x80 }, (_, code) => bySort(String.fromCharCode(code)));
const ascii = (sign: string): number => asciiSeconds[sign.charCodeAt(0)] ?? 0;
