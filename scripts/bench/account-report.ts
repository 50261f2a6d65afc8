// Measures the time for usage reports of a key with 5,000,000 servings among 100,000 keys: as of a
// time, as of a position, and as of now. Takes about two minutes and 1 GB. To run it:
// scripts/node scripts/bench/account-report.ts [servings] [keys]
import { join } from "node:path";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import type { AsOf } from "../../src/ledger/accounts/read-ranges.ts";
import { createUsageReader } from "../../src/ledger/accounts/usage-reader.ts";
import { busyKey, month, otherKeys, writeAccounts } from "./accounts.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const [servings = 5_000_000, keys = 100_000] = process.argv.slice(2).map(Number);
const runs = 15;

await inTemporaryFolder(async (folder) => {
  const store = await openSqliteEventStore({ path: join(folder, "events.db") });
  const { middle, position } = await writeAccounts(store, servings, keys);
  const reader = createUsageReader({ store });
  const measure = async (name: string, task: () => Promise<number>): Promise<void> => {
    const times: number[] = [];
    let result = 0;
    const cpuBefore = process.cpuUsage();
    for (let run = 0; run < runs; run++) {
      const start = performance.now();
      result = await task();
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpu = `${((user + system) / runs / 1_000).toFixed(0)} ms of CPU`;
    const [median = 0, slowest = 0] = [times[Math.floor(runs / 2)], times.at(-1)];
    console.log(
      `${name}: median ${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms, ${cpu} (${result})`,
    );
  };
  const requests = async (asOf: AsOf) => (await reader.usageOf({ apiKey: busyKey, month, asOf })).requests;
  await measure("as of a time", () => requests({ time: middle }));
  await measure("as of a position", () => requests({ position }));
  await measure("as of now", () => requests({}));
  const page = [busyKey, ...otherKeys(499)];
  await measure("counts of 500 keys", async () => (await reader.countsOf(page, month)).counts.size);
  await store.close();
});
