/**
 * Starts the service with an empty log (SQLite, files). Measures the milliseconds until it listens,
 * the CPU time of all its processes until they are idle, and their memory then. If the argument is
 * the checkout of another version of the service, with its dependencies installed, alternates with
 * that version.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startInstance } from "../../test/support/instance.ts";
import { cpuMilliseconds } from "./cpu-time.ts";
import { pssOfTree, rssOf } from "./process-memory.ts";
import { figuresOf } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const rounds = 5;
/** Starts that fill the cache of compiled code, and are not counted. */
const warmUps = 2;
const idleMs = 1_000;
/** The most CPU time per second of an idle service, which still checks its clock, for example. */
const idleCpuMs = 20;

const [checkout] = process.argv.slice(2);

const units = {
  listening: "ms",
  "CPU time until listening": "ms",
  "CPU time until idle": "ms",
  "resident memory": "MB",
  "memory of all processes (PSS)": "MB",
} as const;
type Measured = Record<keyof typeof units, number>;

/** Resolves with the CPU time until a second in which the processes need almost none. */
const cpuUntilIdle = async (pid: number): Promise<number> => {
  let before = cpuMilliseconds(pid);
  for (;;) {
    await delay(idleMs);
    const now = cpuMilliseconds(pid);
    if (now - before <= idleCpuMs) return before;
    before = now;
  }
};

const start = async (folder: string, from?: string): Promise<Measured> => {
  const began = performance.now();
  const service = await startInstance(folder, { VOICES: "classic" }, from);
  const listening = performance.now() - began;
  const cpu = cpuMilliseconds(service.pid);
  try {
    return {
      listening,
      "CPU time until listening": cpu,
      "CPU time until idle": await cpuUntilIdle(service.pid),
      "resident memory": rssOf(service.pid),
      "memory of all processes (PSS)": pssOfTree(service.pid),
    };
  } finally {
    await service.stop();
  }
};

const spreadOf = (values: readonly number[]): string =>
  `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;

await inTemporaryFolder(async (folder) => {
  const ours: Measured[] = [];
  const other: Measured[] = [];
  for (let round = -warmUps; round < rounds; round++) {
    const mine = await start(join(folder, `ours${round}`));
    const theirs = checkout === undefined ? mine : await start(join(folder, `other${round}`), checkout);
    if (round < 0) continue;
    ours.push(mine);
    other.push(theirs);
  }
  for (const name of Object.keys(units) as (keyof Measured)[]) {
    const measured = { ours: ours.map((one) => one[name]), bare: other.map((one) => one[name]) };
    const subject = { name: `start: ${name}`, unit: units[name], aim: { atMost: 1 } };
    const spread = { ours: spreadOf(measured.ours), bare: spreadOf(measured.bare) };
    console.log(JSON.stringify({ ...figuresOf(subject, measured), spread }));
  }
});
