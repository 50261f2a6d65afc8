import { cardinal, ordinal } from "./number-words.ts";
import { anyOf, pattern, type Rule } from "./rule.ts";

const values: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100 };

/** Returns undefined if the letters are not a well-formed numeral. */
const romanValue = (numeral: string): number | undefined => {
  if (!/^C{0,3}(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})$/.test(numeral)) return undefined;
  return Array.from(numeral).reduce((sum, letter, index, all) => {
    const value = values[letter] ?? 0;
    return (values[all[index + 1] ?? ""] ?? 0) > value ? sum - value : sum + value;
  }, 0);
};

/** The names of monarchs and popes. */
const names = anyOf(`
  Henry Louis Charles George Edward James William Elizabeth Richard John Paul Pius Benedict Leo Gregory Clement Innocent Urban
  Alexander Nicholas Catherine Peter Ivan Frederick Friedrich Wilhelm Philip Philippe Felipe Ferdinand Alfonso Carlos Juan Napoleon
  Ramses Ramesses Thutmose Amenhotep Ptolemy Cleopatra Xerxes Darius Cyrus Artaxerxes Constantine Theodosius Justinian Harald Harold
  Olaf Haakon Christian Gustav Gustavus Karl Otto Rudolf Leopold Maximilian Joseph Francis Franz Victor Vittorio Emmanuel Umberto
  Albert Margrethe Beatrix Robert David Edmund Stephen Eric Magnus Sixtus Boniface Celestine Adrian Eugene Julius Martin
  Callixtus Akbar Suleiman Murad Mehmed Selim Mustafa Ahmed Abdul Rama Mary Anne Maria Isabella Afonso Pedro Manuel Sancho Baldwin
  Conrad Casimir Sigismund Vladislaus Stanislaus Matthias Antiochus Seleucus Philippos Rainier Hassan Mohammed Hussein Abdullah`);

const parts = anyOf(`
  Chapter Part Act Scene Volume Book War Section Article Title Phase Type Class Level Stage Grade Bowl Appendix Figure Table
  Unit Module Lesson Canto Sonata Symphony Concerto Movement Opus Schedule Annex Division Region Corps Amendment Vatican Episode
  Rocky Fantasy Apollo Mark Tier Round Season Group Lemma Theorem Proposition
  chapter part act scene volume book section article phase type class level stage grade appendix figure table amendment annex
  page pages number`);

/** A single "I", "V" or "X" is a numeral where the name ends with it. */
const isClosed = String.raw`(?=\s*(?:$|[.,;:!?)\]—–"”’'])|\s(?:of|and|or|was|is|has|had|to|in|by|with|the|who|died|reigned|ruled|became|began|ended)(?!\p{L}))`;

export const romanNumeralRules: readonly Rule[] = [
  [
    pattern(`(?<=(?<!\\p{L})${names} )((?:[IVX]{2,6}|[IVX]${isClosed}))(?![\\p{L}\\p{N}'’-]|\\.\\p{L})`),
    ([written, numeral = ""], dialect) => {
      const value = romanValue(numeral);
      return value === undefined ? written : `the ${ordinal(value, dialect)}`;
    },
  ],
  [
    // A single letter may be the number of a part, except "I". Numbers above "L" are not read,
    // because they are also words or abbreviations.
    pattern(
      `(?<=(?<!\\p{L})${parts} )([IVXLC]{2,8}|[IVX]${isClosed}|(?<=War )I)(?![\\p{L}\\p{N}'’]|\\.\\p{L})`,
    ),
    ([written, numeral = ""], dialect) => {
      const value = romanValue(numeral);
      return value === undefined ? written : cardinal(value, dialect);
    },
  ],
  [
    pattern(
      `(?<=(?<!\\p{L})(?!The |This |That |Your |Her |His |Use |With |And |For )\\p{Lu}\\p{Ll}{2,} )(I{2,3}|IV|VI{1,3}|IX|XI{1,3}|XIV|XVI{0,3}|XIX)(?![\\p{L}\\p{N}'’]|\\.\\p{L})`,
    ),
    ([, numeral = ""], dialect) => cardinal(romanValue(numeral) ?? 0, dialect),
  ],
];
