import { expect } from "chai";
import type { Projection } from "../../../projections/projection.ts";
import { createProjectionRunner } from "../../../projections/runner/runner.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { linesOf, startFixture, withTemporaryFolder } from "../../support/child-process.ts";
import { startEventStoreDBProcess } from "../../support/eventstoredb-process.ts";
import { add, type Counter, counter } from "../bounded-counter.ts";

const sums: Projection<Counter> = {
  name: "sums",
  version: 1,
  prefixes: ["counter-"],
  partition: ({ stream }) => stream,
  initial: counter.initial,
  apply: (state, event) => counter.evolve(state, event as never),
};

const dense = (length: number): number[] => Array.from({ length }, (_, revision) => revision);

describe("an EventStoreDB log that processes share", () => {
  for (const seed of [undefined, Date.now()]) {
    const how = seed === undefined ? "" : `, on a server that indexes late (seed ${seed})`;
    it(`keeps two processes together within a limit${how}`, () =>
      withTemporaryFolder(async (folder) => {
        const node = await startEventStoreDBProcess(`${folder}/log`, 0, seed);
        const limit = 400;
        const children = [0, 10_000].map((first) =>
          startFixture("fill-counter", node.url, "counter-1", String(limit), String(first)),
        );
        const added = (await Promise.all(children.map(linesOf))).flat().map(Number);
        expect(await Promise.all(children.map(({ ended }) => ended))).to.deep.equal([0, 0]);
        expect(added.reduce((sum, count) => sum + count, 0)).to.equal(limit);
        const store = await openEventStoreDB({ url: node.url });
        const revisions: number[] = [];
        for await (const { revision } of store.readStream("counter-1")) revisions.push(revision);
        expect(revisions).to.deep.equal(dense(limit));
        await store.close();
        await node.kill();
      }));
  }

  it("continues commands and views after the server was killed and restarted", () =>
    withTemporaryFolder(async (folder) => {
      const dataFile = `${folder}/log`;
      let node = await startEventStoreDBProcess(dataFile);
      const store = await openEventStoreDB({ url: node.url });
      const handler = createCommandHandler({ store, deadlineMs: 120_000 });
      const runner = createProjectionRunner({ store, projections: [sums] });
      await runner.start();
      const commands = dense(300).map((id) =>
        handler.execute(counter, `counter-${id % 7}`, add(id, 1, 1_000), { actor: "system" }),
      );
      await Promise.any(commands);
      await node.kill();
      node = await startEventStoreDBProcess(dataFile, node.port);
      const outcomes = await Promise.all(commands);
      await runner.waitForPosition(Math.max(...outcomes.map(({ position }) => position)));
      const view = runner.view(sums);
      const held = dense(7).map((n) => view.get(`counter-${n}`)?.sum ?? 0);
      expect(held.reduce((sum, one) => sum + one, 0)).to.equal(300);
      expect(runner.status().live).to.equal(true);
      await runner.close();
      await store.close();
      await node.kill();
    }));
});
