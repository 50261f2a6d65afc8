import { createHash, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Suite } from "mocha";
import { parse } from "yaml";

/**
 * For `--require`. With TEST_SAMPLE, a seed or `random`, only a tenth of the tests of each file of
 * test/long.mocharc.yml runs, and at least one. Of the longest files, each of whose tests takes
 * long, only a third runs at all.
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
const { spec }: { readonly spec: readonly string[] } = parse(
  readFileSync(join(root, "test/long.mocharc.yml"), "utf8"),
);
export const longFiles: ReadonlySet<string> = new Set(spec.map((file) => join(root, file)));

const isLong = ({ file = "" }: Mocha.Test): boolean => longFiles.has(file);

/** Chooses one in `oneIn` names, rounded up, by the seed. */
export const sampleOf = (names: readonly string[], seedOfSample: string, oneIn: number): string[] => {
  const digestOf = (name: string) => createHash("sha256").update(`${seedOfSample} ${name}`).digest("hex");
  const byDigest = names.toSorted((a, b) => (digestOf(a) < digestOf(b) ? -1 : 1));
  return byDigest.slice(0, Math.ceil(names.length / oneIn));
};

/** The files each of whose tests takes long. */
export const longestFiles = spec.slice(0, 12);

/** The tests of a file, by their titles, that the sample contains. */
export const sampleOfFile = (file: string, titles: readonly string[], seedOfSample: string): string[] =>
  longestFiles.includes(file) && !sampleOf(longestFiles, seedOfSample, 3).includes(file)
    ? []
    : sampleOf(titles, seedOfSample, 10);

const suitesIn = (suite: Suite): Suite[] => [suite, ...suite.suites.flatMap(suitesIn)];

export const mochaGlobalSetup = (): void => {
  if (seed !== undefined) console.log(`Sample of the long tests: TEST_SAMPLE=${seed} repeats it.`);
};

export const mochaHooks = {
  beforeAll(this: Mocha.Context): void {
    if (seed === undefined || !this.test?.parent) return;
    const suites = suitesIn(this.test.parent);
    const long = suites.flatMap((suite) => suite.tests).filter(isLong);
    const kept = [...Map.groupBy(long, ({ file = "" }) => file)].flatMap(([file, tests]) => {
      const titles = tests.map((test) => test.fullTitle());
      return sampleOfFile(relative(root, file), titles, seed);
    });
    const sample = new Set(kept);
    const isKept = (test: Mocha.Test) => !isLong(test) || sample.has(test.fullTitle());
    for (const suite of suites) suite.tests = suite.tests.filter(isKept);
  },
};
