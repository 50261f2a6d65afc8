// Measures the bytes of the embedded log for a serving, with little traffic (each serving is an
// event of its own) and with much (full flushes). Takes about a minute:
// scripts/node scripts/bench/log-size.ts [servings]
import { statSync } from "node:fs";
import { join } from "node:path";
import { writeSeededLog } from "../../test/support/seeded-log.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const [servings = 50_000] = process.argv.slice(2).map(Number);

const sizeOf = async (servings: number, keys: number, eachInOwnEvent: boolean): Promise<number> => {
  let size = 0;
  await inTemporaryFolder(async (folder) => {
    await writeSeededLog(folder, { keys, servings, eachInOwnEvent });
    size = statSync(join(folder, "events.db")).size;
  });
  return size;
};

for (const keys of [1, 100, 1_000]) {
  for (const eachInOwnEvent of [true, false]) {
    const grown = (await sizeOf(servings, keys, eachInOwnEvent)) - (await sizeOf(0, keys, eachInOwnEvent));
    const traffic = eachInOwnEvent ? "little" : "much";
    console.log(`${keys} keys, ${traffic} traffic: ${Math.round(grown / servings)} bytes for a serving`);
  }
}
