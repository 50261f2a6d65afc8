import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { issueKey, keyDecider, keyStream } from "../../../src/domain/accounts/key.ts";
import { QuotaCheck } from "../../../src/domain/ledger/proof/quota-check.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { readSealedEvents } from "../../../src/ledger/proof/sealed-log.ts";
import { randomLag } from "../../support/eventstoredb-node/index-lag.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { isSample, testSeed } from "../../support/sample.ts";
import { type LedgerEntries, readLedger } from "../../support/test-ledger.ts";
import { disturb } from "./faults.ts";
import type { Decided, Load } from "./load.ts";

const program = fileURLToPath(new URL("./instance.ts", import.meta.url));
const decisions = isSample ? 4_000 : 10_000;
const quota = 1_000;
const keys = Array.from({ length: decisions / 250 }, (_, n) => `k${n}`);
const at = "2026-11-21T10:00:00.000Z";
/** A run with more kills would spend its time starting processes. */
const maxKills = 3;

interface Instance {
  readonly child: ChildProcess;
  readonly decided: Decided[];
  /** Resolves when its journal is open. */
  readonly opened: Promise<void>;
  /** Resolves at its last response, or when it is killed. */
  readonly response: Promise<void>;
  /** Resolves when its voids are in the log, or it was killed. */
  drain(): Promise<void>;
}

/** Starts an instance in a separate process, with its own client. */
const startInstance = (load: Load, onRefused: () => void): Instance => {
  const child = spawn(process.execPath, [program, JSON.stringify(load)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout);
  const decided: Decided[] = [];
  const closed = once(child, "close");
  const printed = (expected: string): Promise<void> =>
    new Promise((resolve) => lines.on("line", (line) => line === JSON.stringify(expected) && resolve()));
  lines.on("line", (line) => {
    const value = JSON.parse(line);
    if (typeof value === "object") decided.push(value);
    if (value.status === 503) onRefused();
  });
  const response = Promise.race([printed("answered"), closed.then(() => {})]);
  child.stdin.on("error", () => {}); // it was killed
  return {
    child,
    decided,
    opened: printed("opened"),
    response,
    drain: async () => {
      child.stdin.write("drain\n");
      await closed;
    },
  };
};

const issueKeys = async (store: EventStore): Promise<void> => {
  const handler = createCommandHandler({ store });
  const plan = { tier: "enterprise", requestsPerMinute: 1_000_000, monthlyCharacters: quota } as const;
  for (const apiKey of keys) {
    const issue = (key: Parameters<typeof issueKey>[0]) =>
      issueKey(key, { apiKey, websiteId: "w", plan, at });
    await handler.execute(keyDecider, keyStream(apiKey), issue, {});
  }
};

/** Characters by key: served in all, and charged, without the voided ones. */
const charactersIn = ({ servings, voided }: LedgerEntries) => {
  const served = new Map<string, number>();
  const charged = new Map<string, number>();
  const add = (sums: Map<string, number>, apiKey: string, characters: number) =>
    sums.set(apiKey, (sums.get(apiKey) ?? 0) + characters);
  for (const { apiKey, characters } of servings) {
    add(served, apiKey, characters);
    add(charged, apiKey, characters);
  }
  for (const { apiKey, characters } of voided) add(charged, apiKey, -characters);
  return { served, charged };
};

describe("the ledger of several instances", () => {
  for (const instances of [2, 3]) {
    it(`is exact with ${instances} instances that are stopped and killed, and any faults of the event store (seed ${testSeed})`, async () => {
      const node = await startEventStoreDBNode({
        indexLagMs: randomLag(testSeed, 100),
        commitTimeoutMs: 200,
      });
      const store = await openEventStoreDB({ url: node.url });
      await issueKeys(store);
      const all: Instance[] = [];
      const refused = Promise.withResolvers<void>();
      const start = (): void => {
        const load = {
          url: node.url,
          name: `i${all.length}`,
          seed: testSeed + all.length,
          decisions: Math.ceil(decisions / instances),
          keys,
          quota,
          atOnce: 128,
        };
        all.push(startInstance(load, refused.resolve));
      };
      for (let n = 0; n < instances; n++) start();
      await Promise.all(all.map(({ opened }) => opened));
      let kills = 0;
      const replace = (): void => {
        const last = all.at(-1);
        if (!last || kills++ >= maxKills) return;
        last.child.kill("SIGKILL");
        start();
      };
      const faults = disturb({
        node,
        seed: testSeed,
        refused: refused.promise,
        processes: () => all.map(({ child }) => child),
        replace,
      });
      for (const { response } of all) await response; // also those that are started meanwhile
      await faults.stop();
      for (const { response } of all) await response;
      await Promise.all(all.map(({ drain }) => drain()));
      const decided = all.flatMap((one) => one.decided);
      const entries = await readLedger(store);
      const reservations = new QuotaCheck();
      for await (const event of readSealedEvents(store, { journals: true })) reservations.add(event);
      await store.close();
      await node.close();

      for (const { child } of all) {
        const { pid, exitCode, signalCode } = child;
        expect(
          exitCode === 0 || signalCode === "SIGKILL",
          `instance ${pid} exited with ${exitCode}`,
        ).to.equal(true);
      }
      const count = (status: number) => decided.filter((one) => one.status === status).length;
      const counts = [200, 403, 503].map(count);
      expect(decided).to.have.length.of.at.least(decisions);
      for (const some of counts) expect(some, `answers ${counts}`).to.be.above(0);
      const { charged, served } = charactersIn(entries);
      for (const [apiKey, characters] of charged) {
        expect(characters, `characters charged to ${apiKey}`).to.be.at.most(quota);
      }
      const ids = entries.servings.map(({ requestId }) => requestId);
      const recorded = new Set(ids);
      expect(recorded.size, "requests recorded twice").to.equal(ids.length);
      const voided = new Set(entries.voided.map(({ requestId }) => requestId));
      expect(voided.size, "requests voided twice").to.equal(entries.voided.length);
      for (const { requestId, apiKey, characters, status } of decided) {
        const isCharged = recorded.has(requestId) && !voided.has(requestId);
        // A killed instance could not void what it had refused with 503.
        if (status !== 503) expect(isCharged, `${requestId}, answered ${status}`).to.equal(status === 200);
        if (status !== 403) continue;
        const used = served.get(apiKey) ?? 0;
        expect(used + characters, `${requestId} was refused with ${used} used`).to.be.above(quota);
      }
      const killed = all.filter(({ child }) => child.signalCode === "SIGKILL");
      const alive = all.filter((one) => !killed.includes(one)).flatMap((one) => one.decided);
      for (const { requestId, status } of alive) {
        if (status !== 503) continue;
        expect(recorded.has(requestId) && !voided.has(requestId), `${requestId}, answered 503`).to.equal(
          false,
        );
      }
    });
  }
});
