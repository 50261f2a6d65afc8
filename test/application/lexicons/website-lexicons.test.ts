import { serialize } from "node:v8";
import { expect } from "chai";
import { createWebsiteLexicons } from "../../../src/application/lexicons/website-lexicons.ts";
import { Invalid } from "../../../src/domain/errors.ts";
import {
  evolveLexicons,
  initialLexicons,
  type Lexicon,
  type Lexicons,
  lexiconsStream,
  setLexicon,
} from "../../../src/domain/lexicons/lexicons.ts";
import { compileLexicon } from "../../../src/domain/lexicons/replacements.ts";

const at = "2026-03-01T12:00:00.000Z";

describe("the lexicons of websites", () => {
  const view = new Map<string, Lexicons>();
  const lexicons = createWebsiteLexicons(view);
  const set = (websiteId: string, name: string, alias: string): void => {
    const state = view.get(lexiconsStream(websiteId)) ?? initialLexicons();
    const events = setLexicon(state, { name, rules: [{ grapheme: "a", alias }], at });
    view.set(lexiconsStream(websiteId), events.reduce(evolveLexicons, state));
  };
  const aliasOf = (...args: Parameters<typeof lexicons.of>) =>
    lexicons
      .of(...args)?.(["a"], { lang: "en", takesPhonemes: false })
      .map(({ by }) => by);

  beforeEach(() => {
    view.clear();
    set("web_1", "second", "2");
    set("web_1", "first", "1");
  });

  it("are those of the website, in the order of their names", () => {
    expect(aliasOf("web_1")).to.deep.equal([{ alias: "1" }]);
    expect(aliasOf("web_2")).to.equal(undefined);
    expect([lexicons.has("web_1"), lexicons.has("web_2"), lexicons.isEmpty()]).to.deep.equal([
      true,
      false,
      false,
    ]);
  });

  it("change with the view", () => {
    expect(aliasOf("web_1")).to.deep.equal([{ alias: "1" }]);
    set("web_1", "first", "new");
    expect(aliasOf("web_1")).to.deep.equal([{ alias: "new" }]);
  });

  it("are prepared once, however many and large they are, in little more memory than their rules", () => {
    let reads = 0;
    const largest = (name: string): Lexicon => {
      const rules = Array.from({ length: 1_000 }, (_, n) => ({
        grapheme: `${n} ${name} `.padEnd(100, "abcdefghi "),
        alias: "a",
      }));
      const lexicon = { version: 1, digest: "", setAt: at, rules };
      return Object.defineProperty(lexicon, "rules", { get: () => reads++ >= 0 && rules });
    };
    for (let site = 0; site < 5; site++) {
      const names = Array.from({ length: 10 }, (_, n) => `${site}-${n}`);
      const byName = Object.fromEntries(names.map((name) => [name, largest(name)]));
      view.set(lexiconsStream(`web_${site}`), { versions: 1, byName });
    }
    for (let round = 0; round < 3; round++) {
      for (let site = 0; site < 5; site++) lexicons.of(`web_${site}`);
    }
    expect(reads).to.equal(50);
    const rules = largest("one").rules;
    expect(serialize(compileLexicon({ rules })).length).to.be.below(3 * serialize(rules).length);
  });

  it("are the chosen ones of a request, in its order and in the version that it names", () => {
    expect(aliasOf("web_1", [{ name: "second" }, { name: "first" }])).to.deep.equal([{ alias: "2" }]);
    expect(aliasOf("web_1", [{ name: "second", version: "1" }])).to.deep.equal([{ alias: "2" }]);
    expect(aliasOf("web_1", [])).to.equal(undefined);
  });

  it("refuse an unknown lexicon or version", () => {
    for (const chosen of [{ name: "third" }, { name: "constructor" }, { name: "first", version: "1" }]) {
      expect(() => lexicons.of("web_1", [chosen])).to.throw(Invalid);
    }
    expect(() => lexicons.of("web_2", [{ name: "first" }])).to.throw(Invalid);
  });
});
