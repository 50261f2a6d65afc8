/**
 * Starts the service after some minutes of traffic: cached GETs by many keys (SQLite, files), as
 * many as the machine serves. Compares a start after SIGTERM, and one after SIGKILL, with the start
 * of a service that has served nothing. Each start has a copy of the data. If the traffic has left
 * snapshots, also measures starts without them. Snapshots are written after 50,000 events, which
 * 25,000 new keys are. Arguments: the seconds of traffic, the number of keys, and the checkout of
 * another version, which is then started instead of this one.
 */
import { existsSync } from "node:fs";
import { cp, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { startInstance } from "../../test/support/instance.ts";
import { cpuMilliseconds } from "./cpu-time.ts";
import { authorizeFirst, drawnAtRandom, issueKeys } from "./issued-keys.ts";
import { figuresOf } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";
import { wrk } from "./wrk.ts";

const seconds = Number(process.argv[2] ?? 120);
const keys = Number(process.argv[3] ?? 1_000);
const checkout = process.argv[4];
const connections = 64;
const rounds = 5;
const warmUps = 1;
const mostTimes = 1.2;

const text = "Every word that is spoken here is on the ledger.";
const path = `/v2/text/synthesize?${new URLSearchParams({ voice: "UK English Female", text })}`;
const env = { VOICES: "classic", BURST_LIMIT: "1000000" };

/** Serves the load, then ends in both ways. Resolves with the folders of the data. */
const serveTraffic = async (folder: string): Promise<Record<string, string>> => {
  const live = join(folder, "live");
  const stopped = join(folder, "stopped");
  const killed = join(folder, "killed");
  await (await startInstance(live, env)).stop();
  const store = await openSqliteEventStore({ path: join(live, "events.db") });
  await issueKeys(store, keys).finally(store.close);
  const script = join(folder, "wrk.lua");
  await writeFile(script, drawnAtRandom(path, keys));
  const traffic = async (service: { readonly url: string }, duration: number): Promise<number> => {
    await (await fetch(service.url + path, { headers: authorizeFirst() })).arrayBuffer();
    const load = { url: service.url + path, headers: {}, connections, script };
    return (await wrk({ ...load, seconds: duration })).responses;
  };

  const service = await startInstance(live, env);
  const served = await traffic(service, seconds).finally(service.stop);
  await cp(live, stopped, { recursive: true });
  const again = await startInstance(live, env);
  await traffic(again, Math.ceil(seconds / 4)).finally(again.kill);
  await cp(live, killed, { recursive: true });
  const { size } = await stat(join(stopped, "events.db"));
  console.log(JSON.stringify({ seconds, keys, served, megabytes: Math.round(size / 1024 / 1024) }));
  return { "after SIGTERM": stopped, "after SIGKILL": killed };
};

interface Start {
  readonly listening: number;
  readonly cpu: number;
}

const measureStart = async (folder: string, from: string, hasSnapshots: boolean): Promise<Start> => {
  const data = join(folder, "data");
  await cp(from, data, { recursive: true });
  if (!hasSnapshots) await rm(join(data, "snapshots"), { recursive: true, force: true });
  const began = performance.now();
  const service = await startInstance(data, env, checkout);
  const started = { listening: performance.now() - began, cpu: cpuMilliseconds(service.pid) };
  await service.stop();
  await rm(data, { recursive: true });
  return started;
};

await inTemporaryFolder(async (folder) => {
  const idle = join(folder, "idle");
  await (await startInstance(idle, env)).stop();
  const busy = await serveTraffic(folder);
  const cases = Object.entries(busy).flatMap(([name, from]) => [
    { name, from, hasSnapshots: true },
    ...(existsSync(join(from, "snapshots"))
      ? [{ name: `${name}, without snapshots`, from, hasSnapshots: false }]
      : []),
  ]);
  const measured = new Map<string, Start[]>();
  for (let round = -warmUps; round < rounds; round++) {
    for (const one of [{ name: "idle", from: idle, hasSnapshots: true }, ...cases]) {
      const start = await measureStart(folder, one.from, one.hasSnapshots);
      if (round >= 0) measured.set(one.name, [...(measured.get(one.name) ?? []), start]);
    }
  }
  const figures = (name: string, of: keyof Start): number[] =>
    (measured.get(name) ?? []).map((one) => one[of]);
  for (const { name } of cases) {
    for (const [of, what] of [
      ["listening", "listening"],
      ["cpu", "CPU time until listening"],
    ] as const) {
      const subject = { name: `start ${name}: ${what}`, unit: "ms", aim: { atMost: mostTimes } };
      console.log(JSON.stringify(figuresOf(subject, { ours: figures(name, of), bare: figures("idle", of) })));
    }
  }
});
