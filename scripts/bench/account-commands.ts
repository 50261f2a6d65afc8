/**
 * Shows that accounts do not depend on the number of servings. Measures the seconds that `voxledger
 * key suspend` takes, the seconds from spawning the service until it listens, and its memory. The
 * log has 10,000,000 servings of 100,000 keys (about 1 GB, SQLite). Compares the figures with fixed
 * limits, and prints the same figures for a log without servings. Arguments: servings, keys.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { type Credentials, registerWebsite } from "../../test/support/client.ts";
import { startService } from "../../test/support/service.ts";
import { writeJournals } from "./journals-of-servings.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const servings = Number(process.argv[2] ?? 10_000_000);
const keyCount = Number(process.argv[3] ?? 100_000);
const rounds = 5;
const limits = { suspendSeconds: 1, startSeconds: 3, rssMegabytes: 400 };

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const voxledger = async (dataDir: string, ...args: string[]): Promise<void> => {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir };
  const child = spawn("scripts/voxledger", args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`voxledger ${args[0]} exited with ${code}`);
};

const measure = async (dataDir: string, { apiKey }: Credentials) => {
  const suspend: number[] = [];
  const start: number[] = [];
  let rss = 0;
  for (let round = 0; round < rounds; round++) {
    suspend.push(await seconds(() => voxledger(dataDir, "key", "suspend", apiKey, "--reason", "bench")));
    await voxledger(dataDir, "key", "reinstate", apiKey);
    const began = performance.now();
    const service = await startService(dataDir);
    start.push((performance.now() - began) / 1_000);
    const [, kilobytes] =
      /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${service.pid}/status`, "utf8")) ?? [];
    rss = Math.max(rss, Number(kilobytes) / 1_024);
    await service.stop();
  }
  return { suspendSeconds: median(suspend), startSeconds: median(start), rssMegabytes: rss };
};

await inTemporaryFolder(async (dataDir) => {
  const service = await startService(dataDir);
  const website = await registerWebsite(service.url);
  await service.stop();
  console.log(JSON.stringify({ servings: 0, ...(await measure(dataDir, website)) }));
  const store = await openSqliteEventStore({ path: join(dataDir, "events.db") });
  const keys = Array.from({ length: keyCount }, (_, index) => `vlk_${String(index).padStart(24, "0")}`);
  const writing = await seconds(() =>
    writeJournals(store, { servings, keys, begin: Date.now() - 7_200_000 }),
  );
  await store.close();
  const measured = await measure(dataDir, website);
  console.log(JSON.stringify({ servings, writingSeconds: writing, ...measured, limits }));
  const exceeded = Object.entries(limits).filter(
    ([name, limit]) => measured[name as keyof typeof limits] > limit,
  );
  if (exceeded.length > 0) throw new Error(`above the limit: ${exceeded.map(([name]) => name).join(", ")}`);
});
