import { expect } from "chai";
import type { LexiconRule } from "../../../src/domain/lexicons/lexicon-rules.ts";
import {
  compileLexicon,
  createFindReplacements,
  replacementsDigest,
} from "../../../src/domain/lexicons/replacements.ts";

const voice = { lang: "en-GB", takesPhonemes: false };

/** The text with its replacements in brackets. */
const applied = (text: string, rules: readonly LexiconRule[], traits = voice): string => {
  const characters = Array.from(text);
  const found = createFindReplacements([compileLexicon({ rules })])(characters, traits);
  let next = 0;
  const parts = found.map(({ from, to, by }) => {
    const before = characters.slice(next, from).join("");
    next = to;
    return `${before}[${"alias" in by ? by.alias : `${by.alphabet}:${by.phoneme}`}]`;
  });
  return parts.join("") + characters.slice(next).join("");
};
const alias = (grapheme: string, as: string): LexiconRule => ({ grapheme, alias: as });

/** What `applied` gives for aliases if a word may begin and end anywhere. */
const appliedBySearch = (text: string, rules: readonly LexiconRule[]): string => {
  const longestFirst = rules.toSorted((a, b) => b.grapheme.length - a.grapheme.length);
  let written = "";
  for (let rest = text; rest !== ""; ) {
    const rule = longestFirst.find(({ grapheme }) => rest.startsWith(grapheme));
    const [first = ""] = rest;
    written += rule ? `[${rule.alias}]` : first;
    rest = rest.slice((rule?.grapheme ?? first).length);
  }
  return written;
};

describe("the replacements of lexicons", () => {
  it("are whole words in their own case", () => {
    const rules = [alias("km", "kilometres"), alias("W3C", "Consortium")];
    expect(applied("km 5 km, 5km akm KM kms (km) km", rules)).to.equal(
      "[kilometres] 5 [kilometres], 5km akm KM kms ([kilometres]) [kilometres]",
    );
    expect(applied("The W3C's W3C-like W3Cs", rules)).to.equal("The [Consortium]'s [Consortium]-like W3Cs");
  });

  it("prefer the longest grapheme, and the first rule of equal ones", () => {
    const rules = [
      alias("New", "old"),
      alias("New York", "NY"),
      alias("New York City", "NYC"),
      alias("New", "x"),
    ];
    expect(applied("New York Cities New York City New", rules)).to.equal("[NY] Cities [NYC] [old]");
  });

  it("match white space of any kind and length, and every apostrophe", () => {
    const rules = [alias("New York", "NY"), alias("it's", "it is"), alias("rock ’n’ roll", "rock")];
    for (const blanks of ["\n", "\r\n", "  ", "\u00a0", "\u202f", "\t \u2028", "\x85"])
      expect(applied(`In New${blanks}York${blanks}City`, rules)).to.equal(`In [NY]${blanks}City`);
    for (const apostrophe of ["'", "’", "ʼ"])
      expect(applied(`So it${apostrophe}s rock ${apostrophe}n${apostrophe} roll`, rules)).to.equal(
        "So [it is] [rock]",
      );
    expect(applied("NewYork New", [alias("New  York", "NY")])).to.equal("NewYork New");
    expect(applied("New York", [alias("New  York", "NY")])).to.equal("[NY]");
  });

  it("are not applied to what a rule has written", () => {
    expect(applied("a b a", [alias("a", "b"), alias("b", "a")])).to.equal("[b] [a] [b]");
  });

  it("take graphemes literally", () => {
    const rules = [
      alias("C++", "see plus plus"),
      alias(".*", "dot star"),
      alias("&", "and"),
      alias("€", "euro"),
    ];
    expect(applied("C++ & .* 5€ C+", rules)).to.equal("[see plus plus] [and] [dot star] 5[euro] C+");
  });

  it("are those that a search through all rules finds, for any rules and text", () => {
    const parts = ["北", "京", "大", "學", "😀", "😁", "-", "="]; // between any two of them, a word may begin
    let seed = 1;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    const write = (most: number): string =>
      Array.from({ length: 1 + random(most) }, () => parts[random(parts.length)]).join("");
    for (let round = 0; round < 500; round++) {
      const rules = Array.from({ length: 1 + random(60) }, (_, n) => alias(write(4), String(n)));
      const text = write(40);
      expect(applied(text, rules), JSON.stringify({ text, rules })).to.equal(appliedBySearch(text, rules));
    }
  });

  it("may begin and end within words of scripts without blanks", () => {
    expect(applied("我爱北京。", [alias("北京", "首都")])).to.equal("我爱[首都]。");
  });

  it("do not split a character and its marks, or an emoji and its skin tone", () => {
    expect(applied("q\u0303 q", [alias("q", "cue")])).to.equal("q\u0303 [cue]");
    expect(applied("👍🏽 👍", [alias("👍", "good")])).to.equal("👍🏽 [good]");
    expect(applied("q\u0303k k", [alias("k", "kay")])).to.equal("q\u0303k [kay]");
  });

  it("use phonemes where the voice takes them, else the alias, else the text", () => {
    const rules: LexiconRule[] = [
      { grapheme: "tomato", phoneme: "təˈmɑːtəʊ", alias: "tomahto" },
      { grapheme: "potato", phoneme: "p@teIto", alphabet: "x-sampa" },
    ];
    expect(applied("tomato potato", rules)).to.equal("[tomahto] potato");
    expect(applied("tomato potato", rules, { ...voice, takesPhonemes: true })).to.equal(
      "[ipa:təˈmɑːtəʊ] [x-sampa:p@teIto]",
    );
  });

  it("are of lexicons for the voice's language, in the order of the lexicons", () => {
    const find = createFindReplacements(
      [
        { lang: "fr", rules: [alias("chat", "cat")] },
        { lang: "EN", rules: [alias("chat", "talk")] },
        { rules: [alias("chat", "any"), alias("chat room", "forum")] },
      ].map(compileLexicon),
    );
    const of = (lang: string) => find(Array.from("chat"), { lang, takesPhonemes: false }).map(({ by }) => by);
    expect(of("fr-CA")).to.deep.equal([{ alias: "cat" }]);
    expect(of("en-GB")).to.deep.equal([{ alias: "talk" }]);
    expect(of("eng")).to.deep.equal([{ alias: "talk" }]);
    expect(of("enm")).to.deep.equal([{ alias: "any" }]);
    const longer = find(Array.from("chat room"), { lang: "en-GB", takesPhonemes: false });
    expect(longer.map(({ by }) => by)).to.deep.equal([{ alias: "forum" }]);
  });

  it("need at most one look at each character for each character of the longest grapheme", () => {
    const rules = Array.from({ length: 100 }, (_, length) => alias("a ".repeat(length + 1).trim(), "x"));
    let looks = 0;
    const characters = new Proxy(Array.from("a ".repeat(2_500)), {
      get: (target, name) => {
        looks++;
        return Reflect.get(target, name);
      },
    });
    const found = createFindReplacements([compileLexicon({ rules })])(characters, voice);
    expect(found.every(({ from, to }) => to - from === 199 || to === 4_999)).to.equal(true);
    expect(looks).to.be.below(10 * characters.length);
  });

  it("need one look at each of many blanks", () => {
    let looks = 0;
    const characters = new Proxy(Array.from(" ".repeat(1_000)), {
      get: (all, name, receiver) => {
        if (/^\d+$/.test(String(name))) looks++;
        return Reflect.get(all, name, receiver);
      },
    });
    createFindReplacements([compileLexicon({ rules: [alias("a b", "c")] })])(characters, voice);
    expect(looks).to.be.below(10_000);
  });

  it("have a digest that depends on places and pronunciations alone", () => {
    const digest = (text: string, ...rules: LexiconRule[]) =>
      replacementsDigest(createFindReplacements([compileLexicon({ rules })])(Array.from(text), voice));
    const one = digest("a b", alias("a", "x"));
    expect(digest("a c", alias("unused", "y"), alias("a", "x"))).to.equal(one);
    expect(digest("a b", alias("a", "y"))).to.not.equal(one);
    expect(digest("b a", alias("a", "x"))).to.not.equal(one);
  });
});
