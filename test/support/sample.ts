import { createHash, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Suite } from "mocha";
import { parse } from "yaml";

/**
 * For `--require`. With TEST_SAMPLE, a seed or `random`, only a tenth of the tests of each file of
 * test/long.mocharc.yml runs, and at least one.
 */
if (process.env.TEST_SAMPLE === "random") process.env.TEST_SAMPLE = String(randomInt(1_000_000));
const seed = process.env.TEST_SAMPLE;

/**
 * The seed of tests that generate other inputs in each run. Their titles name it, and TEST_SEED
 * repeats it.
 */
export const testSeed = Number(process.env.TEST_SEED ?? seed ?? randomInt(1_000_000));

/** True if a test that cannot be divided does a part of its rounds. */
export const isSample = seed !== undefined;

const root = join(import.meta.dirname, "../..");
const { spec } = parse(readFileSync(join(root, "test/long.mocharc.yml"), "utf8"));
export const longFiles: ReadonlySet<string> = new Set(spec.map((file: string) => join(root, file)));

const isLong = ({ file = "" }: Mocha.Test): boolean => longFiles.has(file);

/** The tests of the sample: a tenth, at least one, chosen by the seed and their titles. */
export const sampleOf = (titles: readonly string[], seedOfSample: string): string[] => {
  const digestOf = (title: string) => createHash("sha256").update(`${seedOfSample} ${title}`).digest("hex");
  const byDigest = titles.toSorted((a, b) => (digestOf(a) < digestOf(b) ? -1 : 1));
  return byDigest.slice(0, Math.ceil(titles.length / 10));
};

const suitesIn = (suite: Suite): Suite[] => [suite, ...suite.suites.flatMap(suitesIn)];

export const mochaGlobalSetup = (): void => {
  if (seed !== undefined) console.log(`Sample of the long tests: TEST_SAMPLE=${seed} repeats it.`);
};

export const mochaHooks = {
  beforeAll(this: Mocha.Context): void {
    if (seed === undefined || !this.test?.parent) return;
    const suites = suitesIn(this.test.parent);
    const long = suites.flatMap((suite) => suite.tests).filter(isLong);
    const titles = [...Map.groupBy(long, ({ file }) => file).values()].map((tests) =>
      tests.map((test) => test.fullTitle()),
    );
    const sample = new Set(titles.flatMap((ofFile) => sampleOf(ofFile, seed)));
    const isKept = (test: Mocha.Test) => !isLong(test) || sample.has(test.fullTitle());
    for (const suite of suites) suite.tests = suite.tests.filter(isKept);
  },
};
