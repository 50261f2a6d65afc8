import { itSpeaksTheSame, type Pair } from "../support/same-sound.ts";

/** A `<say-as>`, and what it says. */
const said = (as: string, content: string, spelledOut: string): Pair => [
  `<speak><say-as interpret-as=${as.replace(/^([\w-]+)/, '"$1"')}>${content}</say-as></speak>`,
  spelledOut,
];
const date = (format: string, content: string, spelledOut: string): Pair =>
  said(`date format="${format}"`, content, spelledOut);

describe("SSML", () => {
  itSpeaksTheSame("en-US", [
    ["<speak>One &amp; two.</speak>", "One & two."],
    ['<speak><lang xml:lang="en">One two.</lang></speak>', "One two."],
    ['<speak><lang xml:lang="zxx">One two.</lang></speak>', "One two."],
    ['<speak>Call <say-as interpret-as="digits">1234</say-as>, now.</speak>', "Call 1 2 3 4, now."],
    said("digits", "1234", "1 2 3 4"),
    said("digits", "12-34", "1 2 3 4"),
    said("cardinal", "1984", "1,984"),
    said("number", "007", "7"),
    said("ordinal", "3", "third"),
    said("ordinal", "22", "twenty-second"),
    said("ordinal", "1234", "one thousand two hundred thirty-fourth"),
    date("mdy", "3/4/2026", "March 4, 2026"),
    date("dmy", "3/4/2026", "April 3, 2026"),
    date("ymd", "2026-11-26", "November 26, 2026"),
    date("yyyymmdd", "20261126", "November 26, 2026"),
    date("md", "11/26", "November 26"),
    date("my", "11.2026", "November 2026"),
    date("m", "11", "November"),
    said("date", "2026-11-26", "November 26, 2026"),
    said("date", "3/4/2026", "March 4, 2026"),
    said("time", "2:30pm", "2:30pm"),
    said("time", "1'21&quot;", "1 minute 21 seconds"),
    said("telephone", "(555) 123-4567", "5 5 5, 1 2 3, 4 5 6 7"),
    said("currency", "USD 42.01", "42.01 US dollars"),
    said("unit", "10 kg", "10 kilograms"),
    said("unit", "1 ft", "1 foot"),
    said("address", "Main Street", "Main Street"),
  ]);
  itSpeaksTheSame("en-GB", [
    date("dmy", "3/4/2026", "3 April 2026"),
    said("date", "3/4/2026", "3 April 2026"),
  ]);
  itSpeaksTheSame(
    "en-US",
    [
      said("digits", "1234", "1 2 3 4"),
      said("characters", "abc", "A B C"),
      said("spell-out", "a-1", "A dash 1"),
      said("ordinal", "3", "third"),
      date("mdy", "3/4/2026", "March 4, 2026"),
      ["<speak>the <sub alias='World Wide Web'>WWW</sub></speak>", "the World Wide Web"],
      ["<speak><emphasis>Now</emphasis> or never.</speak>", "Now or never."],
    ],
    "flite",
  );
  itSpeaksTheSame("de-DE", [
    said("digits", "1234", "1 2 3 4"),
    said("ordinal", "3", "dritte"),
    said("ordinal", "21", "einundzwanzigste"),
    date("dmy", "4.3.2026", "vierter März 2026"),
    said("date", "4.3.2026", "vierter März 2026"),
    said("currency", "EUR 3,50", "3,50 Euro"),
    said("unit", "5 km", "5 Kilometer"),
    said("time", "1'21&quot;", "1 Minute 21 Sekunden"),
  ]);
  itSpeaksTheSame("fr-FR", [
    said("digits", "1234", "1 2 3 4"),
    said("ordinal", "1", "premier"),
    date("dmy", "4/3/2026", "4 mars 2026"),
    said("unit", "5 km", "5 kilomètres"),
  ]);
  itSpeaksTheSame("es-ES", [
    said("digits", "1234", "1 2 3 4"),
    said("ordinal", "2", "2º"),
    date("dmy", "4/3/2026", "4 de marzo de 2026"),
    said("currency", "2 EUR", "2 euros"),
  ]);
  itSpeaksTheSame("it-IT", [
    said("ordinal", "3", "terzo"),
    said("ordinal", "20", "ventesimo"),
    date("dmy", "4/3/2026", "4 marzo 2026"),
  ]);
  itSpeaksTheSame("pt-BR", [said("ordinal", "2", "segundo"), said("unit", "5 m", "5 metros")]);
  itSpeaksTheSame("ru-RU", [said("digits", "1234", "1 2 3 4"), said("unit", "5 km", "5 километров")]);
  itSpeaksTheSame("fi-FI", [said("unit", "5 km", "5 kilometriä")]);
  itSpeaksTheSame("el-GR", [said("ordinal", "2", "δεύτερος")]);
  itSpeaksTheSame("id-ID", [said("ordinal", "3", "ke-3")]);
  itSpeaksTheSame("sv-SE", [
    said("ordinal", "1", "första"),
    said("ordinal", "3", "tredje"),
    said("ordinal", "12", "tolfte"),
  ]);
  itSpeaksTheSame("af-ZA", [said("ordinal", "3", "derde"), said("ordinal", "14", "veertiende")]);
  itSpeaksTheSame("zh-HK", [said("ordinal", "3", "第三")]);
});

/** A word by its phonemes, in the middle of a text: the content is not read. */
const phoneme = (ph: string, word: string): Pair => [
  `<speak><p>Abc <phoneme alphabet="ipa" ph="${ph}">qqq</phoneme></p></speak>`,
  `<speak><p>Abc ${word}</p></speak>`,
];

describe("The phonemes of SSML", () => {
  itSpeaksTheSame("en-US", [
    phoneme("təˈmeɪɾoʊ", "tomato"),
    phoneme("ˈwɔːɾɚ", "water"),
    phoneme("tʃɜːtʃ", "church"),
    phoneme("dʒʌdʒ", "judge"),
    phoneme("ˈsɪŋɪŋ", "singing"),
    phoneme("həˈloʊ", "hello"),
  ]);
  itSpeaksTheSame("en-GB", [
    phoneme("təˈmɑːtəʊ", "tomato"),
    phoneme("ˈlɛtə", "letter"),
    phoneme("ɡəʊt", "goat"),
    phoneme("ðɪs", "this"),
  ]);
  itSpeaksTheSame("de-DE", [
    phoneme("ˈʃtʁaːsə", "Straße"),
    phoneme("ʃøːn", "schön"),
    phoneme("buːx", "Buch"),
    phoneme("ˈmʏsən", "müssen"),
    phoneme("ˈhøːlə", "Höhle"),
  ]);
  itSpeaksTheSame("fr-FR", [
    phoneme("bɔ̃ˈʒuʁ", "bonjour"),
    phoneme("vɛ̃", "vin"),
    phoneme("pœʁ", "peur"),
    phoneme("ʁuʒ", "rouge"),
  ]);
});
