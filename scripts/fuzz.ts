/**
 * Speaks generated texts with all voices of espeak-ng and flite, and reports each that fails other than by a refusal, or of which a
 * part is silently missing. Usage: scripts/node scripts/fuzz.ts [TEXTS] [SEED]; 1,000 texts take about three minutes.
 */
import { localEngines } from "../src/engines/local/engine.ts";
import { faultOf, fuzzCase, randomOf } from "../test/support/speech-fuzz.ts";
import { openToolHost } from "../test/support/tool-host.ts";

const texts = Number(process.argv[2] ?? 1_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
console.log(`${texts} texts, seed ${seed}`);
const host = await openToolHost();
const [engine] = await localEngines({ host });
if (!engine) throw new Error("Neither espeak-ng nor flite is installed.");
const random = randomOf(seed);
let faults = 0;
for (let at = 0; at < texts; at++) {
  const fuzz = fuzzCase(random);
  const fault = await faultOf(engine, fuzz);
  if (fault === undefined) continue;
  faults++;
  console.log(JSON.stringify({ at, fault, ...fuzz }));
}
console.log(`${faults} of ${texts} texts failed (seed ${seed}).`);
await host.close();
process.exitCode = faults === 0 ? 0 : 1;
