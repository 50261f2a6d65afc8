import { expect } from "chai";
import type { EventBatch } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { event, eventsOf, fill } from "../../contracts/event-store/events.ts";
import { duringTest } from "../../support/during.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { until } from "../../support/processes.ts";
import { expectUnavailable, retryWhileUnavailable } from "../unavailable.ts";

describe("subscriptions of the EventStoreDB driver", () => {
  const node = duringTest(startEventStoreDBNode);
  const store = duringTest(() =>
    openEventStoreDB({ url: node.url, appendTimeoutMs: 1_000, readTimeoutMs: 1_500 }),
  );
  /** A store for calls that take long. */
  const patient = duringTest(() => openEventStoreDB({ url: node.url, appendTimeoutMs: 15_000 }));

  it("report no position ahead of their events, whatever the server's checkpoints are", async () => {
    for (let n = 0; n < 5; n++) {
      await fill(patient, "other", 1_500);
      await store.append("mine", [event()], "any");
    }
    let last = -1;
    let count = 0;
    for await (const { events, position } of store.subscribe({ prefixes: ["mine"] })) {
      last = events.at(-1)?.position ?? last;
      expect(position).to.equal(last);
      count += events.length;
      if (count === 5) break;
    }
  });

  it("let the server leave out other streams after a position of another stream", async () => {
    const { position: after } = await store.append("start", [event()], "none");
    await fill(patient, "other", 500);
    const first = await store.append("mine", [event()], "none");
    const { delivered } = node.faults;
    for await (const { events, position } of store.subscribe({
      prefixes: ["mine"],
      except: "mine-too",
      fromExclusive: after,
    })) {
      if (events.length === 0) continue;
      expect(events.map(({ stream }) => stream)).to.deep.equal(["mine"]);
      expect(position).to.equal(first.position);
      break;
    }
    expect(node.faults.delivered - delivered).to.equal(1);
  });

  for (const [how, code] of [
    ["with OK", undefined],
    ["with an error", 13],
  ] as const) {
    it(`fail after the server has ended them ${how}, also between two reads`, async () => {
      const batches = store.subscribe()[Symbol.asyncIterator]();
      await batches.next();
      node.faults.dropSubscriptions(code);
      await until("the subscription has ended", () => node.faults.open.subscriptions === 0);
      await expectUnavailable(() => batches.next());
      const waiting = store.subscribe()[Symbol.asyncIterator]();
      await retryWhileUnavailable(() => waiting.next());
      const next = waiting.next();
      node.faults.dropSubscriptions(code);
      await expectUnavailable(() => next);
    });
  }

  it("continue after the server has ended them because of a slow consumer", async () => {
    const aborted = 10;
    const first = await store.append("s", eventsOf(3), "none");
    const batches = store.subscribe()[Symbol.asyncIterator]();
    const delivered: number[] = [];
    const readUntil = async (count: number): Promise<void> => {
      while (delivered.length < count) {
        const { value } = await batches.next();
        for (const { revision } of (value as EventBatch).events) delivered.push(revision);
      }
    };
    await readUntil(3);
    await store.append("s", eventsOf(3), first.revision);
    node.faults.dropSubscriptions(aborted);
    await readUntil(6);
    expect(delivered).to.deep.equal([0, 1, 2, 3, 4, 5]);
    await batches.return?.();
  });

  it("leave no call open when consumers leave reads and subscriptions", async () => {
    await fill(patient, "s", 3_000);
    for await (const _ of store.readStream("s")) break;
    for await (const _ of store.subscribe()) break;
    await store.subscribe()[Symbol.asyncIterator]().return?.();
    const { open } = node.faults;
    await until("all calls have ended", () => node.faults.open.reads + node.faults.open.subscriptions === 0);
    expect(open.batches).to.equal(1);
  });

  it("apply back-pressure to the server while the consumer does not read", async () => {
    const heavy = { text: "x".repeat(2_000) };
    for (let n = 0; n < 40; n++) {
      await patient.append(
        "s",
        Array.from({ length: 200 }, () => event(heavy)),
        "any",
      );
    }
    const batches = patient.subscribe()[Symbol.asyncIterator]();
    await batches.next();
    let before: number;
    do {
      before = node.faults.delivered;
      for (let looks = 0; looks < 10; looks++) await patient.eventAt(0);
    } while (node.faults.delivered > before);
    expect(before).to.be.below(6_000);
    await batches.return?.();
  });
});
