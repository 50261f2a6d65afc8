/**
 * espeak-ng's mnemonics of the phonemes of its voices, by their IPA. espeak-ng 1.51 prints the IPA
 * of its phonemes (`--ipa`); spellings that dictionaries use for the same sounds are added. The
 * longest IPA that matches at a place is used. IPA and mnemonics alternate, separated by blanks.
 */
const plosives = "p p b b t t d d k k ɡ g g g f f v v s s z z m m n n l l j j";
const affricates = "tʃ tS ʧ tS dʒ dZ ʤ dZ ʃ S";

const english =
  `${plosives} ${affricates} ʒ Z θ T ð D ŋ N h h w w x x ɫ l ɹ r r r ʔ ? ` +
  "iː i: i i ɪ I eɪ eI e E ɛ E æ a ʌ V ə @ ɜː 3: ʊ U uː u: u u: ɔː O: ɔɪ OI aɪ aI aʊ aU ɑː A: ɑ A: l̩ @L n̩ n- ɒ 0";

const tables = {
  american: `${english} əʊ oU oʊ oU ɔ O2 a a ɐ a# ᵻ I2 ɝː 3: ɝ 3: ɜːɹ 3:r ɜɹ 3: ɚ 3 ɑːɹ A@ ɑɹ A@ ɔːɹ O@ ɔɹ O@ oːɹ o@ ɛɹ e@ ɪɹ i@3 ʊɹ U@ ɾ t#`,
  british: `${english} əʊ oU oʊ oU ɔ 0 a a ɐ a# ɚ 3 ɝ 3: ɜ 3: eə e@ ɛː e@ ɪə i@3 iə i@3 ʊə U@ ɾ t`,
  german:
    `${plosives} ${affricates} ʒ Z ŋ N h h x x χ x ç C ʁ r ʀ r ɾ r r r pf pF ts ts w w ʔ _! ` +
    "iː i: i i: ɪ I yː y: y y ʏ y eː e: e e: ɛː E: ɛ E øː Y: ø Y: œ W aː A: ɑː A: a a uː u: u u: ʊ U oː o: o o: ɔ O ə @ ɐ 3 ɐ̯ 3 ɜ 3 " +
    "aɪ aI aɪ̯ aI ai aI aʊ aU aʊ̯ aU au aU ɔʏ OY ɔʏ̯ OY ɔɪ OY ɔø OY",
  french:
    `${plosives} ʃ S ʒ Z ʁ r ʀ r r r ɲ n^ ŋ N w w ɥ y tʃ tS dʒ dZ ` +
    "a a ɑ a e e ɛ E ə @ i i o o ɔ O u u y y ø Y œ W ɑ̃ A~ ã A~ ɛ̃ E~ ɔ̃ O~ õ O~ œ̃ W~",
  spanish:
    `${plosives} β B ð D ɣ Q x x ɲ n^ ŋ N tʃ tS θ T ʎ l^ ʝ J^ w w ʃ S ɾ ** r R2 h x ` +
    "a a e e ɛ E i i o o u u",
  italian:
    `${plosives} ${affricates} ɲ n^ ŋ N ʎ l^ ts ts dz dz w w rr R* r R ɾ R ʒ Z ` +
    "tː t: kː k: pː p: tsː ts2: dzː dz: a a e e ɛ E i i ɪ I o o ɔ O u u ʊ U aː a: eː e: ɛː E: iː i: oː o: ɔː O: uː u:",
} as const;

/** The table of a voice, by the name of its file. */
const voices: readonly (readonly [file: RegExp, table: keyof typeof tables])[] = [
  [/^gmw\/en-US/, "american"],
  [/^gmw\/en/, "british"],
  [/^gmw\/de/, "german"],
  [/^roa\/fr/, "french"],
  [/^roa\/es/, "spanish"],
  [/^roa\/it/, "italian"],
];

interface Table {
  readonly mnemonics: ReadonlyMap<string, string>;
  readonly longest: number;
}

const tableOf = (text: string): Table => {
  const words = text.split(" ");
  const mnemonics = new Map<string, string>();
  for (let at = 0; at < words.length; at += 2) mnemonics.set(words[at] ?? "", words[at + 1] ?? "");
  return { mnemonics, longest: Math.max(...Array.from(mnemonics.keys(), ({ length }) => length)) };
};

const byVoice = new Map(Object.entries(tables).map(([name, text]) => [name, tableOf(text)]));

const stress: Readonly<Record<string, string>> = { ˈ: "'", "'": "'", ˌ: "," };
const vowel = /[iyɪʏeøɛœæaɐəɜɚɝʌɑɒɔoʊuɵ]/;

/**
 * The mnemonics of a word in IPA, as espeak-ng reads them between brackets. Undefined if the
 * voice's language has no table, or the table lacks a phoneme. The word is then read as it is
 * written.
 */
export const mnemonicsOf = (ipa: string, voice: string): string | undefined => {
  const table = byVoice.get(voices.find(([file]) => file.test(voice))?.[1] ?? "");
  if (!table) return undefined;
  // Syllable breaks and ties do not change a sound. A word without a stress mark is stressed on its
  // first vowel.
  const word = ipa
    .normalize("NFC")
    .replace(/[./\u203f]|\u0361/g, "")
    .trim();
  const stressed = /[ˈ']/.test(word) ? word : word.replace(vowel, "ˈ$&");
  const out: string[] = [];
  for (let at = 0; at < stressed.length; ) {
    const mark = stress[stressed.charAt(at)];
    const blank = /\s/.test(stressed.charAt(at)) ? " " : undefined;
    const [phone, length] = mark || blank ? [mark ?? blank ?? "", 1] : longestMatch(stressed, at, table);
    if (length === 0) return undefined;
    out.push(phone);
    at += length;
  }
  if (out.length === 0) return undefined;
  // German begins a vowel with a glottal stop.
  const begins = table === byVoice.get("german") && vowel.test(stressed.replace(/^[ˈˌ']/, "").charAt(0));
  return (begins ? (/^[ˈ']/.test(stressed) ? "_!" : "_|") : "") + out.join("");
};

const longestMatch = (word: string, at: number, { mnemonics, longest }: Table): [string, number] => {
  for (let length = Math.min(longest, word.length - at); length > 0; length--) {
    const found = mnemonics.get(word.slice(at, at + length));
    if (found !== undefined) return [found, length];
  }
  return ["", 0];
};
