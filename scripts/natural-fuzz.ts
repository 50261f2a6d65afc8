/**
 * Speaks generated texts and documents with hibari or with all voices of SVOX Pico. Reports a text
 * that fails without being refused, or whose marks go back or lie outside of the text or the audio.
 * Also reports a text whose samples or marks differ when it is spoken again, after other texts and
 * by other processes. Usage: scripts/node scripts/natural-fuzz.ts [hibari|pico] [TEXTS] [SEED]
 */
import pLimit from "p-limit";
import { openNaturalEngine } from "../test/support/natural-engine.ts";
import { type Finding, findInNatural, fuzzedVoices, naturalFuzzCase } from "../test/support/natural-fuzz.ts";
import { pollTimeoutMs } from "../test/support/processes.ts";
import { type FuzzCase, randomOf } from "../test/support/speech-fuzz.ts";
import { openToolHost } from "../test/support/tool-host.ts";

const voices = fuzzedVoices[process.argv[2] === "hibari" ? "hibari" : "pico"];
const texts = Number(process.argv[3] ?? 1_000);
const seed = Number(process.argv[4] ?? Date.now() % 2 ** 31);
console.log(`${texts} texts, seed ${seed}`);
const random = randomOf(seed);
const cases = Array.from({ length: texts }, () => naturalFuzzCase(random, voices));

const speakAll = async (order: readonly number[]): Promise<ReadonlyMap<number, Finding>> => {
  const host = await openToolHost({ queue: { queueTimeoutMs: 100 * pollTimeoutMs } });
  const engine = await openNaturalEngine(
    host,
    voices.map(({ voice }) => voice),
  );
  if (!engine) throw new Error("The voices are not installed: run scripts/natural-voices.");
  const limit = pLimit(3);
  const found = new Map<number, Finding>();
  const speakOne = async (at: number): Promise<void> => {
    const fuzz = cases[at] as FuzzCase;
    const finding = await findInNatural(engine, fuzz);
    found.set(at, finding);
    if (finding.fault !== undefined) console.log(JSON.stringify({ at, fault: finding.fault, ...fuzz }));
    if (found.size % 100 === 0)
      console.log(`${found.size} texts after ${Math.round(performance.now() / 1000)} s`);
  };
  await Promise.all(order.map((at) => limit(() => speakOne(at))));
  await host.close();
  return found;
};

const order = [...cases.keys()];
const forwards = await speakAll(order);
const backwards = await speakAll(order.toReversed());
let faults = 0;
for (const at of order) {
  const [one, other] = [forwards.get(at), backwards.get(at)];
  const isSame = one?.digest === other?.digest;
  if (!isSame || one?.fault !== undefined) faults++;
  if (!isSame) console.log(JSON.stringify({ at, fault: "it differs when it is spoken again", ...cases[at] }));
}
console.log(`${faults} of ${texts} texts failed (seed ${seed}).`);
process.exitCode = faults === 0 ? 0 : 1;
