import { expect } from "chai";
import pLimit from "p-limit";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { faultOf, fuzzCase, randomOf } from "../../support/speech-fuzz.ts";
import { openToolHost } from "../../support/tool-host.ts";

/** A sample of what scripts/fuzz.ts speaks. */
const texts = 200;
const seed = Number(process.env.TEST_SEED ?? 35);

describe("Generated texts", () => {
  it(`are spoken whole by local engines, or refused (seed ${seed})`, async () => {
    const host = await openToolHost();
    const [engine] = await localEngines({ host });
    if (!engine) throw new Error("No tool is installed.");
    const random = randomOf(seed);
    const cases = Array.from({ length: texts }, () => fuzzCase(random));
    const limit = pLimit(3);
    const found = await Promise.all(cases.map((one) => limit(() => faultOf(engine, one))));
    const faults = found.flatMap((fault, at) => (fault === undefined ? [] : [{ at, fault, ...cases[at] }]));
    expect(faults).to.deep.equal([]);
    await host.close();
  });
});
