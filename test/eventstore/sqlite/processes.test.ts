import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { event, eventsOf, ids, read, revisions } from "../../contracts/event-store/events.ts";
import { linesOf, startFixture, withTemporaryFolder } from "../../support/child-process.ts";

const withStore = (use: (store: EventStore, path: string) => Promise<void>): Promise<void> =>
  withTemporaryFolder(async (folder) => {
    const path = join(folder, "events.db");
    const store = await openSqliteEventStore({ path });
    try {
      await use(store, path);
    } finally {
      await store.close();
    }
  });

const dense = (length: number): number[] => Array.from({ length }, (_, revision) => revision);

const idsIn = (lines: readonly string[]): string[] => lines.flatMap((line) => JSON.parse(line) as string[]);

describe("an SQLite event store that processes share", () => {
  it("stores every concurrent append of two processes to one stream exactly once", () =>
    withStore(async (store, path) => {
      const children = [1, 2].map(() => startFixture("append-until-killed", path, "s", "300"));
      const acknowledged = idsIn((await Promise.all(children.map(linesOf))).flat());
      expect(await Promise.all(children.map(({ ended }) => ended))).to.deep.equal([0, 0]);
      const events = await read(store, "s");
      expect(ids(events).toSorted()).to.deep.equal(acknowledged.toSorted());
      expect(revisions(events)).to.deep.equal(dense(1800));
    }));

  it("delivers another process's events to a subscriber", () =>
    withStore(async (store, path) => {
      const child = startFixture("append-until-killed", path, "s", "100");
      const acknowledged = linesOf(child);
      const delivered: string[] = [];
      for await (const { events } of store.subscribe()) {
        delivered.push(...ids(events));
        if (delivered.length === 300) break;
      }
      expect(delivered.toSorted()).to.deep.equal(idsIn(await acknowledged).toSorted());
      await child.ended;
    }));

  it("has every acknowledged append, completely, after the process was killed", () =>
    withStore(async (store, path) => {
      for (let round = 0; round < 3; round++) {
        const child = startFixture("append-until-killed", path, `s${round}`);
        const lines: string[] = [];
        for await (const line of child.lines) {
          lines.push(line);
          if (lines.length === 100 + 37 * round) child.process.kill("SIGKILL");
        }
        expect(await child.ended).to.equal("SIGKILL");
        const events = await read(store, `s${round}`);
        expect(ids(events)).to.include.members(idsIn(lines));
        expect(revisions(events)).to.deep.equal(dense(events.length));
        expect(events.length % 3).to.equal(0);
      }
      await store.close();
      expect(integrity(path)).to.equal("ok");
      const reopened = await openSqliteEventStore({ path });
      expect((await reopened.append("s0", [event()], "any")).revision).to.be.greaterThan(299);
      await reopened.close();
    }));

  it("waits for another process's lock without blocking the event loop", () =>
    withStore(async (store, path) => {
      await store.append("s", eventsOf(2), "none");
      const holder = startFixture("hold-lock", path);
      await once(holder.lines, "line");
      let settled = false;
      const append = store.append("s", [event()], 1).finally(() => {
        settled = true;
      });
      for (let turn = 0; turn < 1000; turn++) await new Promise(setImmediate);
      expect(await read(store, "s")).to.have.length(2);
      expect(settled).to.equal(false);
      holder.process.stdin.end();
      expect((await append).revision).to.equal(2);
      expect(await holder.ended).to.equal(0);
    }));

  it("refuses appends above its budget, and stores all others", () =>
    withStore(async (store, path) => {
      const holder = startFixture("hold-lock", path);
      await once(holder.lines, "line");
      const batch = () => eventsOf(10_000);
      const appends = Array.from({ length: 11 }, (_, n) => store.append(`s${n}`, batch(), "none"));
      const settled = Promise.allSettled(appends);
      holder.process.stdin.end();
      const outcomes = (await settled).map(({ status }) => status);
      expect(outcomes).to.deep.equal([...Array.from({ length: 10 }, () => "fulfilled"), "rejected"]);
      expect(await read(store, "s9")).to.have.length(10_000);
      expect(await read(store, "s10")).to.deep.equal([]);
      await holder.ended;
    }));
});

const integrity = (path: string): unknown => {
  const db = new DatabaseSync(path);
  try {
    return db.prepare("PRAGMA integrity_check").get()?.integrity_check;
  } finally {
    db.close();
  }
};
