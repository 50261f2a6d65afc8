/** A syllable's stress precedes its vowel. */
export const primary = "ˈ";
export const secondary = "ˌ";

const vowels: ReadonlySet<string> = new Set("AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ");
const consonants: ReadonlySet<string> = new Set("bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθ");
const long: ReadonlySet<string> = new Set("AIOQWYʤʧ");

/** Measures the length of a word, in short sounds. Stresses count too. */
export const weightOf = (phonemes: string): number =>
  Array.from(phonemes).reduce((sum, phoneme) => sum + (long.has(phoneme) ? 2 : 1), 0);

const marks = /[ˈˌ]/g;
const isStressed = (phonemes: string): boolean => phonemes.includes(primary) || phonemes.includes(secondary);

export const withoutStress = (phonemes: string): string => phonemes.replace(marks, "");

/** Replaces the primary stress, if there is one, by a secondary stress, and removes all others. */
export const weakened = (phonemes: string): string =>
  phonemes.includes(primary) ? phonemes.replaceAll(secondary, "").replaceAll(primary, secondary) : phonemes;

/** A word without a stress gets a secondary one. */
export const atLeastSecondary = (phonemes: string): string =>
  isStressed(phonemes) ? phonemes : beforeVowel(phonemes, secondary);

/** A word in capitals is emphasized. */
export const emphasized = (phonemes: string): string => {
  if (phonemes.includes(primary)) return phonemes;
  return phonemes.includes(secondary)
    ? phonemes.replaceAll(secondary, primary)
    : beforeVowel(phonemes, primary);
};

const beforeVowel = (phonemes: string, mark: string): string => {
  const first = Array.from(phonemes).findIndex((phoneme) => vowels.has(phoneme));
  return first < 0 ? phonemes : phonemes.slice(0, first) + mark + phonemes.slice(first);
};

const pauses: ReadonlySet<string> = new Set(";:,.!?—…");

/** Returns the kind of sound with which a word begins; undefined if the word is not heard. */
export const startOf = (phonemes: string): "vowel" | "consonant" | "pause" | undefined => {
  for (const phoneme of phonemes) {
    if (vowels.has(phoneme)) return "vowel";
    if (consonants.has(phoneme)) return "consonant";
    if (pauses.has(phoneme)) return "pause";
  }
  return undefined;
};
