/**
 * Speaks generated texts with all voices of espeak-ng and flite, and reports each that fails other
 * than by a refusal, or of which a part is silently missing. Usage: scripts/node scripts/fuzz.ts
 * [TEXTS] [SEED]
 */
import pLimit from "p-limit";
import { localEngines } from "../src/engines/local/engine.ts";
import { faultOf, fuzzCase, randomOf } from "../test/support/speech-fuzz.ts";
import { openToolHost } from "../test/support/tool-host.ts";

const slots = 8;
const texts = Number(process.argv[2] ?? 1_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
console.log(`${texts} texts, seed ${seed}`);
const host = await openToolHost({ concurrency: slots, speakers: slots });
const [engine] = await localEngines({ host });
if (!engine) throw new Error("Neither espeak-ng nor flite is installed.");
const random = randomOf(seed);
const limit = pLimit(slots);
let spoken = 0;
let faults = 0;
const speak = async (at: number, fuzz: ReturnType<typeof fuzzCase>): Promise<void> => {
  const fault = await faultOf(engine, fuzz);
  if (++spoken % 500 === 0) console.log(`${spoken} texts after ${Math.round(performance.now() / 1000)} s`);
  if (fault === undefined) return;
  faults++;
  console.log(JSON.stringify({ at, fault, ...fuzz }));
};
const cases = Array.from({ length: texts }, () => fuzzCase(random));
await Promise.all(cases.map((fuzz, at) => limit(() => speak(at, fuzz))));
console.log(`${faults} of ${spoken} texts failed (seed ${seed}).`);
await host.close();
process.exitCode = faults === 0 ? 0 : 1;
