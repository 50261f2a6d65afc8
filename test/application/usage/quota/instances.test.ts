import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { issueKey, keyDecider, keyStream } from "../../../../src/domain/accounts/key.ts";
import { evolveUsage, initialUsage, type UsageEvent } from "../../../../src/domain/usage/usage.ts";
import { createCommandHandler } from "../../../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { randomLag } from "../../../support/eventstoredb-node/index-lag.ts";
import { type EventStoreDBNode, startEventStoreDBNode } from "../../../support/eventstoredb-node/node.ts";
import { disturb } from "./faults.ts";
import type { Decided, Load } from "./load.ts";

const program = fileURLToPath(new URL("./instance.ts", import.meta.url));
const decisions = 10_000;
const quota = 1_000;
const keys = Array.from({ length: 40 }, (_, n) => `k${n}`);
const at = "2026-11-21T10:00:00.000Z";

/** Starts an instance in a separate process, with its own client. */
const startInstance = (load: Load) => {
  const child = spawn(process.execPath, [program, JSON.stringify(load)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout);
  const printed = (expected: string): Promise<void> =>
    new Promise((resolve) => lines.on("line", (line) => line === expected && resolve()));
  return {
    /** Resolves when it has answered a request with 503. */
    unavailable: printed("unavailable"),
    answered: printed("answered"),
    /** All answers, once the 503s are settled. */
    settle: async (): Promise<Decided[]> => {
      child.stdin.write("settle\n");
      const [answers] = await once(lines, "line");
      await once(child, "close");
      return JSON.parse(answers);
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

/** The log's servings and refunds by request, and the most characters that a key had used at any time. */
const auditOf = async (store: EventStore) => {
  const servings = new Map<string, number>();
  const voided = new Set<string>();
  const used = new Map<string, ReturnType<typeof initialUsage>>();
  let mostUsed = 0;
  for await (const { events, caughtUp } of store.subscribe({ prefixes: ["usage-"] })) {
    for (const { stream, type, data } of events) {
      const event = { type, data } as UsageEvent;
      const { requestId } = event.data;
      if (event.type === "SynthesisServed") servings.set(requestId, (servings.get(requestId) ?? 0) + 1);
      if (event.type === "ServingVoided" && event.data.serving) voided.add(requestId);
      const usage = evolveUsage(used.get(stream) ?? initialUsage(), event);
      used.set(stream, usage);
      mostUsed = Math.max(mostUsed, usage.used);
    }
    if (caughtUp) break;
  }
  const total = [...used.values()].reduce((sum, usage) => sum + usage.used, 0);
  return { servings, voided, mostUsed, total };
};

describe("the quota over several instances", function () {
  this.timeout(180_000);
  let node: EventStoreDBNode;
  let store: EventStore;

  for (const instances of [2, 3]) {
    const seed = Date.now() % 2 ** 31;

    it(`is never exceeded by ${instances} instances, with any faults of the event store (seed ${seed})`, async () => {
      node = await startEventStoreDBNode({ indexLagMs: randomLag(seed, 100), commitTimeoutMs: 200 });
      store = await openEventStoreDB({ url: node.url });
      await issueKeys(store);
      const started = Array.from({ length: instances }, (_, n) =>
        startInstance({
          url: node.url,
          name: `i${n}`,
          seed: seed + n,
          decisions: Math.ceil(decisions / instances),
          keys,
          quota,
          atOnce: 128,
        }),
      );
      const faults = disturb(node, seed, Promise.all(started.map(({ unavailable }) => unavailable)));
      await Promise.all(started.map(({ answered }) => answered));
      await faults.stop();
      const decided = (await Promise.all(started.map(({ settle }) => settle()))).flat();
      const { servings, voided, mostUsed, total } = await auditOf(store);
      await store.close();
      await node.close();

      const count = (status: number) => decided.filter((one) => one.status === status).length;
      const counts = [200, 403, 503].map(count);
      expect(decided).to.have.length.of.at.least(decisions);
      for (const some of counts) expect(some, `answers ${counts}`).to.be.above(0);
      expect(mostUsed, "characters used of one key").to.be.at.most(quota);
      for (const { requestId, status } of decided) {
        const isCharged = servings.has(requestId) && !voided.has(requestId);
        expect(isCharged, `${requestId}, answered ${status}, is charged`).to.equal(status === 200);
        expect(servings.get(requestId) ?? 0, `servings of ${requestId}`).to.be.at.most(1);
      }
      const charged = decided.filter(({ status }) => status === 200);
      expect(total).to.equal(charged.reduce((sum, { characters }) => sum + characters, 0));
    });
  }
});
