import { anyOf, pattern, type Rule } from "./rule.ts";

type Table = Readonly<Record<string, string>>;

const keysOf = (table: Table): string =>
  anyOf(
    Object.keys(table)
      .sort((a, b) => b.length - a.length)
      .join("|"),
  );

/** Abbreviations before a name. */
const titles: Table = {
  Dr: "Doctor",
  Mr: "Mister",
  Mrs: "Missus",
  Ms: "Miz",
  Messrs: "Messers",
  Prof: "Professor",
  Gen: "General",
  Col: "Colonel",
  Maj: "Major",
  Capt: "Captain",
  Lt: "Lieutenant",
  Cmdr: "Commander",
  Sgt: "Sergeant",
  Cpl: "Corporal",
  Rev: "Reverend",
  Hon: "Honorable",
  Sen: "Senator",
  Rep: "Representative",
  Gov: "Governor",
  Pres: "President",
  Supt: "Superintendent",
  Mt: "Mount",
  Ft: "Fort",
  Sts: "Saints",
};

/** Abbreviations after the name of a street. */
const streets: Table = {
  St: "Street",
  Dr: "Drive",
  Ave: "Avenue",
  Rd: "Road",
  Blvd: "Boulevard",
  Ln: "Lane",
  Hwy: "Highway",
  Pkwy: "Parkway",
  Sq: "Square",
};

/** Abbreviations before a number, with or without a period. */
const numbered: Table = {
  No: "number",
  no: "number",
  Nos: "numbers",
  nos: "numbers",
  "№": "number",
  Nº: "number",
  "N°": "number",
  Vol: "volume",
  vol: "volume",
  Vols: "volumes",
  Fig: "figure",
  fig: "figure",
  Figs: "figures",
  figs: "figures",
  pp: "pages",
  p: "page",
  pg: "page",
  ch: "chapter",
  Ch: "chapter",
  chap: "chapter",
  Chap: "chapter",
  sec: "section",
  Sec: "section",
  Eq: "equation",
  eq: "equation",
  Art: "article",
  Ref: "reference",
  ver: "version",
  approx: "approximately",
  avg: "average",
  Avg: "Average",
  ca: "circa",
  Ca: "circa",
  "§": "section",
  "§§": "sections",
};

/**
 * These abbreviations are expanded only before a period. A later rule expands some of them without
 * it.
 */
const general: Table = {
  approx: "approximately",
  Approx: "approximately",
  dept: "department",
  Dept: "Department",
  est: "established",
  Est: "Established",
  Jr: "Junior",
  Sr: "Senior",
  Inc: "Incorporated",
  Ltd: "Limited",
  Co: "Company",
  Corp: "Corporation",
  Bros: "Brothers",
  Assoc: "Association",
  Univ: "University",
  govt: "government",
  Govt: "Government",
  misc: "miscellaneous",
  incl: "including",
  excl: "excluding",
  etc: "et cetera",
  Etc: "Et cetera",
  appt: "appointment",
  apt: "apartment",
  Apt: "Apartment",
  tel: "telephone",
  Tel: "Telephone",
  ext: "extension",
  Ave: "Avenue",
  Blvd: "Boulevard",
  Rd: "Road",
  Hwy: "Highway",
  viz: "namely",
  resp: "respectively",
  esp: "especially",
  pls: "please",
  Pls: "Please",
};

/** The period belongs to the abbreviation if the sentence continues after it. */
const goesOn = String.raw`(?=[ \u00a0\t\n]+[\p{Ll}\d(&]|[,;:)\]!?/-])`;
const sentenceStart =
  "(?:The|An?|It|He|She|We|They|You|I|This|That|There|These|Those|In|On|At|But|And|Or|So|If|When|His|Her|My|Our)\\s";
const space = String.raw`[ \u00a0\t]`;
/**
 * Matches words before the pronoun: "Wait a sec. I will come", "the figs I ate". It matches neither
 * "figs I and II" nor a capital: "Fig. I shows it".
 */
const wordAndPronoun = `(?:figs?|sec)\\.?${space}I(?:['’]| (?!(?:and|by|in|is|of|or|to) )\\p{Ll})`;
const before = String.raw`(?<![\p{L}\p{N}_.'’@/-])`;

export const abbreviationRules: readonly Rule[] = [
  [
    pattern(before, String.raw`(?:[Ii]\.\s?e\.|[Ii]e\.|i\.e)(,)?(?![\p{L}\p{N}])`),
    ([, comma = ""]) => `that is${comma}`,
  ],
  [
    pattern(before, String.raw`(?:[Ee]\.\s?g\.|e\.g)(,)?(?![\p{L}\p{N}])`),
    ([, comma = ""]) => `for example${comma}`,
  ],
  [pattern(before, String.raw`(?:(et al)|cf|c\.f)\.`), ([, others]) => (others ? "et al" : "compare")],
  [pattern(before, "w/o(?![\\p{L}\\p{N}])"), () => "without"],
  [pattern(before, "w/\\s?(?=[\\p{L}\\d$£€])"), () => "with "],
  // "Dr. Smith", "St. Peter", but "Baker St. is" and "123 Main Dr."
  [
    pattern(
      String.raw`(?<=\d\p{L}{0,2} (?:[NSEW]\.? )?(?:\p{Lu}[\p{L}'’]+ ){1,3})(${keysOf(streets)})(?![\p{L}\p{N}'’])(?:\.${goesOn})?`,
    ),
    ([, street = ""]) => streets[street],
  ],
  [
    pattern(
      before,
      `(Mr|Mrs|Ms|Messrs|Prof|Dr)\\.?${space}(?=(?:and|&|or)${space}(?:Mr|Mrs|Ms|Prof|Dr)(?!\\p{L}))`,
    ),
    ([, title = ""]) => `${titles[title]} `,
  ],
  [
    pattern(before, `(${keysOf(titles)})\\.?${space}(?=\\p{Lu})(?!${sentenceStart})`),
    ([written, title = ""]) =>
      // Without a period, only these count as titles.
      written.includes(".") || /^(?:Dr|Mr|Mrs|Ms|Messrs|Prof|Lt|Sgt|Capt|Mt)$/.test(title)
        ? `${titles[title]} `
        : undefined,
  ],
  [
    pattern(before, `St\\.?${space}(?=\\p{Lu}\\p{Ll})(?!${sentenceStart})`),
    ([written]) => (/\./.test(written) ? "Saint " : undefined),
  ],
  // A title may also stand without a name: "the Dr. said".
  [
    pattern(
      `(?<=\\b(?:[Tt]he|[Mm]y|[Yy]our|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Aa]n?)${space})(?!(?<=\\b[Aa]n?${space})(?:Gov|Pres|Rep|Gen)\\s*$)(Dr|Prof|Capt|Lt|Sgt|Gov|Pres|Sen|Rep|Gen|Rev)`,
      `(?:\\.${goesOn}|(?=\\.?\\s*$))`,
    ),
    ([, title = ""]) => titles[title],
  ],
  [
    pattern(
      String.raw`(?<=\p{Lu}[\p{L}'’]+ |\d(?:st|nd|rd|th) )(?:(Rd|Blvd|Ln|Hwy|Pkwy)(?=\.? \p{Lu})|(${keysOf(streets)})`,
      String.raw`(?:\.${goesOn}|(?=\.?(?:\s*$|,|\s+${sentenceStart}))))`,
    ),
    ([, clear, street = ""]) => streets[clear ?? street],
  ],
  [pattern(before, `St(?:\\.${goesOn}|(?=\\.\\s*$))`), () => "Street"],
  [
    pattern(
      before,
      `(?!${wordAndPronoun})(${keysOf(numbered)})(\\.?)${space}?(?=[#\\d]|([ivxIVX]{1,5})(?!\\p{L}))`,
    ),
    ([written, word = "", period, roman]) => {
      if (/^[Nn]o$/.test(word) && roman === "I") return undefined; // "No. I will not."
      // "No 5" and "p 5" are not clear without a period.
      const isClear = period || /^(?:approx|pp|[Nn]os|[Vv]ols?|[Ff]igs?|N[º°]|[№§]+)$/.test(word);
      return isClear ? `${numbered[word]} ` : written;
    },
  ],
  [pattern(before, `(${keysOf(general)})(?:\\.${goesOn}|(?=\\.))`), ([, word = ""]) => general[word]],
  [pattern(before, "vs(?:\\.(?=\\s)|(?![\\p{L}\\p{N}.'’]))"), () => "versus"],
  [pattern(before, `(Jr|Sr|Ltd|Inc|etc)(?![\\p{L}\\p{N}.'’])`), ([, word = ""]) => general[word]],
  [pattern(before, String.raw`Ph\.?\s?D(?:\.${goesOn}|(?![\p{L}\p{N}]))`), () => "P.H.D"],
  // flite reads "No. Then" as a number.
  [pattern(before, "No\\.(?=\\s+(?:\\p{Lu}\\p{Ll}|I(?!\\p{L})))"), () => "no."],
  // flite reads "US" as a word.
  [pattern("(?<!\\p{Lu}{2} )", before, "US(?![\\p{L}\\p{N}$])"), () => "U.S"],
];
