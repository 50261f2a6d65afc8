/**
 * Milliseconds from the start of the service's process until it listens, with snapshots, over a log of 1,000,000 events;
 * beside the same over 10,000. Both logs are of the same keys, months, days and voices, so that the views are as large. On
 * both event stores; EventStoreDB is stood in for by a small node that keeps its log in memory, in a process of its own.
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

/** A log that is there, and the folder of the service that it is of. */
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
  if (service.log.join("").includes("snapshot")) throw new Error("it had trouble with a snapshot");
  return time;
};

/** A start that is quick because it forgot something is none. */
const mustShow = async (url: string, events: number): Promise<void> => {
  const { apiKey, month, requests } = sampleOf(events);
  const { body } = await admin(url, "GET", `/keys/${apiKey}/usage?month=${month}`);
  if (body.requests !== requests) throw new Error(`the views show ${body.requests} of ${requests} requests`);
};

/** At its first end the service writes the snapshots that it starts from later. */
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
