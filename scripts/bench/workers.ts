/**
 * Compares a service of several workers with one process on the same machine. Measures the requests
 * per second for audio in the memory cache, the 99th percentile of their times, the CPU time of all
 * processes per request, and their proportional memory. Then estimates, from the CPU time of each
 * thread, what eight processors would give. Arguments: the number of workers (default: 2), and
 * numbers of keys.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { masterKey, type RunningService, startInstance } from "../../test/support/instance.ts";
import { cpuMilliseconds } from "./cpu-time.ts";
import { authorizeFirst, drawnAtRandom, issueKeys, requestsPerMinute } from "./issued-keys.ts";
import { pssOfTree } from "./process-memory.ts";
import { type Aim, figuresOf } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";
import { type Costs, costsOf, estimateGain, pin, threadTimes } from "./thread-times.ts";
import { wrk } from "./wrk.ts";

const [workers = "2", ...given] = process.argv.slice(2);
const numbersOfKeys = given.length > 0 ? given.map(Number) : [1, 1_000];
const text = "Every word that is spoken here is on the ledger.";
const path = `/v2/text/synthesize?${new URLSearchParams({ voice: "UK English Female", text })}`;
const seconds = 4;
/** The number of processors of the machine that is estimated. */
const processors = 8;
const rounds = 5;
const connectionCounts = [64, 256];
/**
 * The duration of the requests before the measurement, in which V8 optimizes the code and each
 * worker's memory cache fills.
 */
const warmUpSeconds = 20;

const aims = {
  "requests/s": { atLeast: 0.95 },
  "ms, 99th percentile": { atMost: 1.5 },
  "ms of CPU per request": { atMost: 1.15 },
} as const satisfies Record<string, Aim>;
type Unit = keyof typeof aims;
type Round = Record<Unit, number>;

const start = async (folder: string, count: string, keys: number): Promise<RunningService> => {
  const data = join(folder, `data-${count}`);
  const file = join(folder, `events-${count}.db`);
  const store = await openSqliteEventStore({ path: file });
  await issueKeys(store, keys);
  await store.close();
  const env = { EVENT_STORE: `sqlite:${file}`, MASTER_KEY: masterKey, BURST_LIMIT: "1000000" };
  return await startInstance(data, { ...env, WORKERS: count });
};

/**
 * Resolves when every worker has the audio in its memory cache: each request uses a new connection.
 */
const warmUp = async ({ url }: RunningService): Promise<void> => {
  for (let times = 0; times < 40; times++) {
    const response = await fetch(url + path, { headers: { ...authorizeFirst(), Connection: "close" } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`the first request was answered with ${response.status}`);
  }
};

const measure = async (
  { url, pid }: RunningService,
  { script, connections, keys }: { script: string; connections: number; keys: number },
  duration = seconds,
): Promise<Round> => {
  const cpuBefore = cpuMilliseconds(pid);
  const load = await wrk({ url: url + path, headers: {}, connections, seconds: duration, script });
  const cpu = cpuMilliseconds(pid) - cpuBefore;
  // Without this pause, a single key would reach its limit of requests per minute.
  await delay((60_000 * load.responses) / (keys * requestsPerMinute));
  return {
    "requests/s": load.perSecond,
    "ms, 99th percentile": load.p99Ms,
    "ms of CPU per request": cpu / load.responses,
  };
};

/**
 * Measures the costs while the service runs on one processor, so that the load generator has the
 * other one.
 */
const measureThreads = async (
  { url, pid }: RunningService,
  { script, connections, keys }: { script: string; connections: number; keys: number },
): Promise<Costs> => {
  pin(pid, 0);
  const before = threadTimes(pid);
  const { responses } = await wrk({ url: url + path, headers: {}, connections, seconds, script });
  const costs = costsOf(before, threadTimes(pid), responses);
  await delay((60_000 * responses) / (keys * requestsPerMinute));
  return costs;
};

const compare = (name: string, ours: readonly Round[], bare: readonly Round[]): void => {
  for (const unit of Object.keys(aims) as Unit[]) {
    const valuesOf = (all: readonly Round[]) => all.map((round) => round[unit]);
    const figures = figuresOf(
      { name, unit, aim: aims[unit] },
      { ours: valuesOf(ours), bare: valuesOf(bare) },
    );
    const spread = { ours: spreadOf(valuesOf(ours)), bare: spreadOf(valuesOf(bare)) };
    console.log(JSON.stringify({ ...figures, spread }));
  }
};

const spreadOf = (values: readonly number[]): string =>
  [Math.min(...values), Math.max(...values)].map((value) => Number(value.toPrecision(3))).join(" to ");

for (const keys of numbersOfKeys) {
  await inTemporaryFolder(async (folder) => {
    const script = join(folder, "wrk.lua");
    await writeFile(script, drawnAtRandom(path, keys));
    const [one, several] = [await start(folder, "1", keys), await start(folder, workers, keys)];
    try {
      for (const service of [one, several]) {
        await warmUp(service);
        const connections = Math.max(...connectionCounts);
        await measure(service, { script, connections, keys }, warmUpSeconds);
      }
      for (const connections of connectionCounts) {
        const measured: { readonly ours: Round[]; readonly bare: Round[] } = { ours: [], bare: [] };
        for (let round = -1; round < rounds; round++) {
          const ours = await measure(several, { script, connections, keys });
          const bare = await measure(one, { script, connections, keys });
          if (round < 0) continue;
          measured.ours.push(ours);
          measured.bare.push(bare);
        }
        const name = `${workers} workers, ${keys.toLocaleString("en")} keys, ${connections} connections`;
        compare(name, measured.ours, measured.bare);
      }
      const memory = { ours: [pssOfTree(several.pid)], bare: [pssOfTree(one.pid)] };
      const subject = { name: `${workers} workers, memory`, unit: "MB", aim: { atMost: 1.6 } };
      console.log(JSON.stringify(figuresOf(subject, memory)));
      for (const connections of connectionCounts) {
        const costs = {
          one: await measureThreads(one, { script, connections, keys }),
          several: await measureThreads(several, { script, connections, keys }),
        };
        const estimate = estimateGain(costs.one, costs.several, processors);
        const name = `estimate for ${processors} processors, ${keys.toLocaleString("en")} keys, ${connections} connections`;
        console.log(JSON.stringify({ name, ratio: Number(estimate.toFixed(2)), microseconds: costs }));
      }
    } finally {
      await Promise.all([one.kill(), several.kill()]);
    }
  });
}
process.exit();
