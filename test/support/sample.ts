import { createHash, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Suite } from "mocha";
import { parse } from "yaml";

/**
 * For `--require`. TEST_SAMPLE is a seed or `random`. With it, only a sixth of the files of
 * test/long.mocharc.yml runs, and of each file only a tenth of the tests, but at least one.
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
  const digests = new Map(names.map((name) => [digestOf(name), name]));
  const chosen = [...digests]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, Math.ceil(names.length / oneIn));
  return chosen.map(([, name]) => name);
};

/** Chooses the files of test/long.mocharc.yml that the sample contains. */
export const sampleOfFiles = (seedOfSample: string): string[] =>
  sampleOf(spec, seedOfSample, 6).map((file) => join(root, file));

const suitesIn = (suite: Suite): Suite[] => [suite, ...suite.suites.flatMap(suitesIn)];

export const mochaGlobalSetup = (): void => {
  if (seed !== undefined) console.log(`Sample of the long tests: TEST_SAMPLE=${seed} repeats it.`);
};

export const mochaHooks = {
  beforeAll(this: Mocha.Context): void {
    if (seed === undefined || !this.test?.parent) return;
    const suites = suitesIn(this.test.parent);
    const long = suites.flatMap((suite) => suite.tests).filter(isLong);
    const files = new Set(sampleOfFiles(seed));
    const kept = [...Map.groupBy(long, ({ file = "" }) => file)].flatMap(([file, tests]) => {
      const titles = tests.map((test) => test.fullTitle());
      return files.has(file) ? sampleOf(titles, seed, 10) : [];
    });
    const sample = new Set(kept);
    const isKept = (test: Mocha.Test) => !isLong(test) || sample.has(test.fullTitle());
    for (const suite of suites) suite.tests = suite.tests.filter(isKept);
  },
};
