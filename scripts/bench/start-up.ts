/**
 * Milliseconds from spawning the service's process until it listens, with snapshots, over a log of 1,000,000 events;
 * compared with 10,000 events. Both logs have the same keys, months, days and voices, so that the views have the same size. For
 * both event stores; a minimal node with an in-memory log in a separate process stands in for EventStoreDB.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { admin } from "../../test/support/client.ts";
import { startEventStoreDBProcess } from "../../test/support/eventstoredb-process.ts";
import { masterKey } from "../../test/support/instance.ts";
import { startService } from "../../test/support/service.ts";
import { leastEvents, sampleOf, writeBusyMonths } from "./busy-months.ts";
import { sideBySide } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const many = Number(process.argv[2] ?? 1_000_000);
const few = leastEvents;

/** An existing log, and the data directory of its service. */
interface Kept {
  readonly events: number;
  readonly dataDir: string;
  readonly eventStore: string;
}

const write = async (store: EventStore, events: number): Promise<void> => {
  await writeBusyMonths(store, events);
  await store.close();
};

const startAndStop = async ({ events, dataDir, eventStore }: Kept): Promise<number> => {
  const began = performance.now();
  const service = await startService(dataDir, { EVENT_STORE: eventStore, MASTER_KEY: masterKey });
  const time = performance.now() - began;
  await mustShow(service.url, events);
  await service.stop();
  if (service.log.join("").includes("snapshot")) throw new Error("a snapshot was not usable");
  return time;
};

/** Verifies that the service has restored everything. */
const mustShow = async (url: string, events: number): Promise<void> => {
  const { apiKey, month, requests } = sampleOf(events);
  const { body } = await admin(url, "GET", `/keys/${apiKey}/usage?month=${month}`);
  if (body.requests !== requests) throw new Error(`the views show ${body.requests} of ${requests} requests`);
};

/** The service writes its snapshots at its first shutdown. */
const prepare = async (kept: Kept): Promise<void> => {
  await startAndStop(kept);
  const files = await readdir(kept.dataDir, { recursive: true });
  if (!files.some((file) => file.includes("usage-totals"))) throw new Error("no snapshot was written");
};

const bench = async (name: string, large: Kept, small: Kept): Promise<void> => {
  for (const kept of [large, small]) await prepare(kept);
  await sideBySide({
    name: `start over ${many.toLocaleString("en")} events, ${name}`,
    unit: "ms",
    aim: { atMost: 1.5 },
    rounds: 9,
    warmUps: 1,
    ours: () => startAndStop(large),
    bare: () => startAndStop(small),
  });
};

await inTemporaryFolder(async (folder) => {
  const keep = async (events: number): Promise<Kept> => {
    const path = join(folder, `${events}.db`);
    await write(await openSqliteEventStore({ path }), events);
    return { events, dataDir: join(folder, `sqlite-${events}`), eventStore: `sqlite:${path}` };
  };
  await bench("embedded store", await keep(many), await keep(few));
});

await inTemporaryFolder(async (folder) => {
  const nodes = [await startEventStoreDBProcess(), await startEventStoreDBProcess()] as const;
  try {
    const keep = async ({ url }: { url: string }, events: number): Promise<Kept> => {
      await write(await openEventStoreDB({ url, appendTimeoutMs: 60_000 }), events);
      return { events, dataDir: join(folder, `eventstoredb-${events}`), eventStore: url };
    };
    await bench("EventStoreDB", await keep(nodes[0], many), await keep(nodes[1], few));
  } finally {
    for (const node of nodes) await node.kill();
  }
});
