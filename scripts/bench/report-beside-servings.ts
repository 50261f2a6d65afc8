/**
 * Measures the time of one key's usage report while two instances record 2,000 servings per second
 * of 1,000 keys, after 383,000 servings that are not posted. Compares reports from the entries that
 * an instance keeps in memory with reports that read the journals instead. Uses both event stores.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { validatedEventStore } from "../../src/eventstore/validated-event-store.ts";
import { KnownEntries } from "../../src/ledger/accounts/known-entries.ts";
import type { ChargesSource } from "../../src/ledger/accounts/read-charges.ts";
import { createUsageReader } from "../../src/ledger/accounts/usage-reader.ts";
import { type OpenLedger, openLedger } from "../../src/ledger/open-ledger.ts";
import { createUsageReport } from "../../src/ledger/reports/usage-report.ts";
import { startEventStoreDBProcess } from "../../test/support/eventstoredb-process.ts";
import { append, issued } from "../../test/support/logged-events.ts";
import { testPrincipal } from "../../test/support/principal.ts";
import { servedAudio } from "../../test/support/served-audio.ts";
import { milliseconds, sideBySide } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const keys = Array.from({ length: 1_000 }, (_, n) => `vlk_${String(n).padStart(4, "0")}`);
const newKey = "vlk_new";
const instances = 2;
const [unposted, perSecond] = [383_000 / instances, 2_000 / instances];
const inFlight = 256;
const tickMs = 10;

const openStore = async (address: string): Promise<EventStore> =>
  validatedEventStore(
    address.startsWith("esdb:")
      ? await openEventStoreDB({ url: address })
      : await openSqliteEventStore({ path: address }),
  );

const open = async (store: EventStore, knownEntries: KnownEntries): Promise<OpenLedger> =>
  await openLedger({
    store,
    handler: createCommandHandler({ store }),
    clock: Date.now,
    untilVisible: async () => {},
    knownEntries,
    onError: (what, error) => console.error(what, error),
  });

let serial = 0;
const serve = ({ ledger }: OpenLedger): Promise<void> =>
  new Promise((resolve, reject) => {
    const apiKey = keys[(serial * 7_919) % keys.length] ?? "";
    const hash = (serial % 64).toString(16).padStart(64, "0");
    const served = servedAudio({ requestId: crypto.randomUUID(), hash, characters: 20 + (serial++ % 100) });
    ledger.record(testPrincipal({ apiKey }), served, (error) => (error ? reject(error) : resolve()));
  });

const serveUnposted = async (opened: OpenLedger): Promise<void> => {
  let left = unposted;
  const serveInTurn = async (): Promise<void> => {
    while (left-- > 0) await serve(opened);
  };
  await Promise.all(Array.from({ length: inFlight }, serveInTurn));
};

/** Serves at a steady rate until the returned function is called. */
const serveSteadily = (opened: OpenLedger): (() => void) => {
  const began = performance.now();
  let served = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1_000) * perSecond;
    for (; served < due; served++) void serve(opened).catch(console.error);
  }, tickMs);
  return () => clearInterval(timer);
};

/**
 * Runs the other instance, which writes a line when its servings are recorded, and serves until its
 * standard input ends.
 */
const runInstance = async (address: string): Promise<void> => {
  const opened = await open(await openStore(address), new KnownEntries());
  await serveUnposted(opened);
  console.log("recorded");
  serveSteadily(opened);
  process.stdin.resume();
  await once(process.stdin, "end");
  process.exit();
};

const bench = async (name: string, address: string): Promise<void> => {
  const store = await openStore(address);
  for (const apiKey of [...keys, newKey]) await append(store, issued(apiKey));
  const known = new KnownEntries();
  const own = await open(store, known);
  const other = spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), address], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const recorded = once(createInterface(other.stdout), "line");
  await serveUnposted(own);
  await recorded;
  await own.ledger.wasChargedByAny("nobody", ["hash"]);
  const stop = serveSteadily(own);
  const timeOf = (source: ChargesSource, apiKeys: readonly string[]) => {
    const report = createUsageReport({ store, accounts: createUsageReader(source) });
    let turn = 0;
    return () => milliseconds(() => report({ apiKey: apiKeys[(turn++ * 37) % apiKeys.length] ?? "" }));
  };
  for (const [whose, apiKeys] of [
    ["a key", keys],
    ["a new key", [newKey]],
  ] as const) {
    await sideBySide({
      name: `report of ${whose} beside 2,000 servings/s, 383,000 unposted, ${name}`,
      unit: "ms",
      aim: { atMost: 0.1 },
      rounds: 5,
      warmUps: 1,
      ours: timeOf({ store, known }, apiKeys),
      bare: timeOf({ store }, apiKeys),
    });
  }
  stop();
  other.stdin.end();
  await once(other, "exit");
  await own.close(10_000);
  await store.close();
};

const [address] = process.argv.slice(2);
if (address !== undefined) await runInstance(address);
await inTemporaryFolder(async (folder) => {
  await bench("SQLite", join(folder, "events.db"));
  const node = await startEventStoreDBProcess();
  await bench("EventStoreDB (a small node in its place)", node.url);
  await node.kill();
});
process.exit();
