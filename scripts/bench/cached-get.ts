/**
 * Measures requests per second for 20 KB of audio in the memory cache. Each request has one of 1,
 * 1,000 or 100,000 keys, drawn at random, and is recorded durably before its response. Compares
 * with a separate node:http process that sends as many bytes with the same headers. The same wrk
 * loads both. Uses both event stores; a minimal node with an in-memory log in a separate process
 * stands in for EventStoreDB. Arguments: other numbers of keys.
 */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { startEventStoreDBProcess } from "../../test/support/eventstoredb-process.ts";
import { masterKey, type RunningService, startInstance } from "../../test/support/instance.ts";
import { authorizeFirst, drawnAtRandom, issueKeys, requestsPerMinute } from "./issued-keys.ts";
import { checkServings, type Load as Received } from "./ledger-check.ts";
import { startServer } from "./server-process.ts";
import { figuresOf, sideBySide } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";
import { wrk } from "./wrk.ts";

const numbersOfKeys = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 1_000, 100_000];
const text = "Every word that is spoken here is on the ledger.";
const path = `/v2/text/synthesize?${new URLSearchParams({ voice: "UK English Female", text })}`;
const seconds = 4;
const maxStartMs = 3_000;

/** node:http writes these itself. */
const automatic = new Set(["date", "connection", "keep-alive"]);

/** An event log for one bench. */
interface Log {
  readonly name: string;
  /** The setting EVENT_STORE. */
  readonly eventStore: string;
  readonly open: () => Promise<EventStore>;
  /** The numbers of connections, and the least ratio. */
  readonly connections: readonly number[];
  readonly atLeast: number;
}

const use = async <T>(log: Log, work: (store: EventStore) => Promise<T>): Promise<T> => {
  const store = await log.open();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};

/** The headers of the second response, which comes from memory. */
const warmUp = async (url: string, received: Received): Promise<Headers> => {
  let headers = new Headers();
  for (let times = 0; times < 2; times++) {
    const response = await fetch(url + path, { headers: authorizeFirst() });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`the first request was answered with ${response.status}`);
    received.served += 1;
    headers = response.headers;
  }
  return headers;
};

const load = async (
  service: RunningService,
  script: string,
  keys: number,
  name: string,
  log: Log,
): Promise<Received> => {
  const received: Received = { served: 0, cutOff: 0 };
  const cached = [...(await warmUp(service.url, received))].filter(([header]) => !automatic.has(header));
  const bare = await startServer("./bare-server.ts", JSON.stringify(Object.fromEntries(cached)));
  try {
    for (const connections of log.connections) {
      const ask = (url: string) => wrk({ url: url + path, headers: {}, connections, seconds, script });
      await sideBySide({
        name: `cached GET, ${name}, ${connections} connections`,
        unit: "requests/s",
        aim: { atLeast: log.atLeast },
        rounds: 5,
        warmUps: 1,
        ours: async () => {
          const { responses, perSecond } = await ask(service.url);
          received.served += responses;
          received.cutOff += connections;
          // Without this pause, a single key would reach its limit of requests per minute.
          await delay((60_000 * responses) / (keys * requestsPerMinute));
          return perSecond;
        },
        bare: async () => (await ask(bare.url)).perSecond,
      });
    }
  } finally {
    await bare.stop();
  }
  return received;
};

const bench = async (folder: string, log: Log, keys: number): Promise<void> => {
  const name = `${log.name}, ${keys.toLocaleString("en")} ${keys === 1 ? "key" : "keys"}`;
  await use(log, (store) => issueKeys(store, keys));
  const script = join(folder, "wrk.lua");
  await writeFile(script, drawnAtRandom(path, keys));
  const env = { EVENT_STORE: log.eventStore, MASTER_KEY: masterKey, BURST_LIMIT: "1000000" };
  const start = async (which: string): Promise<RunningService> => {
    const from = performance.now();
    const service = await startInstance(join(folder, "data"), env);
    const subject = { name: `start, ${name}, ${which}`, unit: "ms", aim: { atMost: 1 } };
    const measured = { ours: [performance.now() - from], bare: [maxStartMs] };
    console.log(JSON.stringify(figuresOf(subject, measured)));
    return service;
  };
  const service = await start("without snapshots");
  const received = await load(service, script, keys, name, log).finally(service.stop);
  // Snapshots are written after 50,000 events.
  if (existsSync(join(folder, "data", "snapshots"))) await (await start("with snapshots")).stop();
  await use(log, (store) => checkServings(store, received));
};

for (const keys of numbersOfKeys) {
  await inTemporaryFolder(async (folder) => {
    const file = join(folder, "events.db");
    const open = () => openSqliteEventStore({ path: file });
    const embedded = { name: "embedded store", eventStore: `sqlite:${file}`, open };
    await bench(folder, { ...embedded, connections: [64, 256], atLeast: 0.55 }, keys);
  });
  await inTemporaryFolder(async (folder) => {
    const node = await startEventStoreDBProcess();
    const open = () => openEventStoreDB({ url: node.url });
    try {
      const server = { name: "EventStoreDB", eventStore: node.url, open };
      await bench(folder, { ...server, connections: [256], atLeast: 0.5 }, keys);
    } finally {
      await node.kill();
    }
  });
}
