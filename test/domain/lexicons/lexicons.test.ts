import { expect } from "chai";
import { Conflict, type Invalid, NotFound } from "../../../src/domain/errors.ts";
import { isSealed } from "../../../src/domain/ledger/seals/seal.ts";
import { lexiconRules } from "../../../src/domain/lexicons/lexicon-rules.ts";
import {
  evolveLexicons,
  initialLexicons,
  type LexiconEvent,
  lexiconName,
  lexiconsStream,
  maxLexicons,
  removeLexicon,
  requireLexicon,
  setLexicon,
} from "../../../src/domain/lexicons/lexicons.ts";
import { parse } from "../../../src/domain/validation.ts";

const at = "2026-03-01T12:00:00.000Z";
const rules = [{ grapheme: "W3C", alias: "Consortium" }];
const given = (...events: LexiconEvent[]) => events.reduce(evolveLexicons, initialLexicons());
const set = (name: string, alias = "Consortium", state = initialLexicons()) =>
  setLexicon(state, { name, lang: "en", rules: [{ grapheme: "W3C", alias }], at });

describe("a website's lexicons", () => {
  it("are set with a version and a digest of language and rules", () => {
    const [event] = set("common");
    expect(event).to.deep.include({ type: "LexiconSet" });
    expect(event?.data).to.deep.include({ name: "common", version: 1, lang: "en", rules, at });
    expect(event?.data)
      .to.have.property("digest")
      .that.matches(/^[0-9a-f]{64}$/);
    expect(given(...set("common")).byName.common).to.deep.include({ version: 1, rules, setAt: at });
  });

  it("do not change when the same rules are set again", () => {
    expect(set("common", "Consortium", given(...set("common")))).to.deep.equal([]);
  });

  it("never have a version twice, also after a lexicon was removed", () => {
    const removed: LexiconEvent = { type: "LexiconRemoved", data: { name: "common", at } };
    const state = given(...set("common"), removed);
    expect(state.byName).to.deep.equal({});
    expect(set("common", "Consortium", state)[0]?.data).to.include({ version: 2 });
  });

  it(`are at most ${maxLexicons}; further ones are refused, but not changes`, () => {
    let state = initialLexicons();
    for (let i = 0; i < maxLexicons; i++) state = set(`l${i}`, "x", state).reduce(evolveLexicons, state);
    expect(() => set("more", "x", state)).to.throw(Conflict);
    expect(set("l0", "y", state)).to.have.length(1);
  });

  it("are sealed, and so contained in exports of the log", () => {
    expect(isSealed(lexiconsStream("web_1"))).to.equal(true);
  });

  it("are not found under the names of an object's members", () => {
    for (const name of ["constructor", "toString"]) {
      expect(() => requireLexicon(initialLexicons(), name)).to.throw(NotFound);
      expect(() => removeLexicon(initialLexicons(), { name, at })).to.throw(NotFound);
    }
    expect(lexiconName.safeParse("__proto__").success).to.equal(false);
  });
});

describe("the rules of a lexicon", () => {
  const pathsOf = (lexicon: unknown): string[] => {
    try {
      parse(lexiconRules, lexicon);
      return [];
    } catch (error) {
      return (error as Invalid).problems.map(({ path }) => path.join("."));
    }
  };

  it("have a grapheme, and an alias or a phoneme", () => {
    const all = [
      ...rules,
      { grapheme: "a", phoneme: "b" },
      { grapheme: "a", phoneme: "b", alphabet: "x-sampa" },
    ];
    expect(pathsOf({ rules: all })).to.deep.equal([]);
    expect(pathsOf({ rules: [{ grapheme: "a" }, { alias: "a" }] })).to.deep.equal([
      "rules.0.alias",
      "rules.1.grapheme",
    ]);
    expect(pathsOf({ rules: [{ grapheme: "a", alias: "b", alphabet: "ipa" }] })).to.deep.equal([
      "rules.0.alphabet",
    ]);
  });

  it("are bounded in number and size", () => {
    const many = (count: number, alias = "x") => ({
      rules: Array.from({ length: count }, (_, i) => ({ grapheme: `g${i}`, alias })),
    });
    expect(pathsOf(many(1_000))).to.deep.equal([]);
    expect(pathsOf(many(1_001))).to.deep.equal(["rules"]);
    expect(pathsOf(many(1_000, "x".repeat(200)))).to.deep.equal(["rules"]);
    expect(pathsOf(many(1, "x".repeat(501)))).to.deep.equal(["rules.0.alias"]);
    expect(pathsOf({ rules: [] })).to.deep.equal(["rules"]);
  });

  it("contain no control characters, brackets in phonemes or characters that XML forbids", () => {
    for (const bad of ["a\u0000b", "a\nb", "a\ufffe", "\ud800"]) {
      expect(pathsOf({ rules: [{ grapheme: bad, alias: bad }] }), JSON.stringify(bad)).to.deep.equal([
        "rules.0.grapheme",
        "rules.0.alias",
      ]);
    }
    expect(pathsOf({ rules: [{ grapheme: "a", phoneme: "[[x]]" }] })).to.deep.equal(["rules.0.phoneme"]);
  });

  it("are kept in NFC, as texts are compared", () => {
    const parsed = parse(lexiconRules, { rules: [{ grapheme: " cafe\u0301 ", alias: "x" }] });
    expect(parsed.rules[0]?.grapheme).to.equal("caf\u00e9");
  });
});
