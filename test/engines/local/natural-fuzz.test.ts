import { expect } from "chai";
import pLimit from "p-limit";
import { duringSuite } from "../../support/during.ts";
import { openNaturalEngine } from "../../support/natural-engine.ts";
import { findInNatural, fuzzedVoices, naturalFuzzCase } from "../../support/natural-fuzz.ts";
import { randomOf } from "../../support/speech-fuzz.ts";
import { openToolHost } from "../../support/tool-host.ts";

/** A sample of what scripts/natural-fuzz.ts speaks. */
const texts = 25;
const seed = Number(process.env.TEST_SEED ?? 36);

describe("Generated texts and documents", () => {
  const host = duringSuite(openToolHost);

  for (const [program, voices] of Object.entries(fuzzedVoices)) {
    it(`are spoken or refused, with marks in order (seed ${seed}): ${program}`, async function () {
      const names = voices.map(({ voice }) => voice);
      const engine = await openNaturalEngine(host, names);
      if (!engine) return this.skip(); // scripts/natural-voices installs them
      const random = randomOf(seed);
      const cases = Array.from({ length: texts }, () => naturalFuzzCase(random, voices));
      const limit = pLimit(2);
      const found = await Promise.all(cases.map((one) => limit(() => findInNatural(engine, one))));
      const faults = found.flatMap(({ fault }, at) =>
        fault === undefined ? [] : [{ at, fault, ...cases[at] }],
      );
      expect(faults).to.deep.equal([]);
    });
  }
});
