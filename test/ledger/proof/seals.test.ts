import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { fromHex, toHex } from "../../../src/domain/bytes.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import { appendLeaf, type MerkleTree, rootOf } from "../../../src/domain/ledger/seals/merkle.ts";
import { createNoteSigner } from "../../../src/domain/ledger/seals/note-signer.ts";
import { provenEvent } from "../../../src/domain/ledger/seals/proven-event.ts";
import {
  eventLeaf,
  journalLeaf,
  type Sealed,
  sealLeaf,
  withoutEnvelopes,
} from "../../../src/domain/ledger/seals/seal.ts";
import { checkpointText } from "../../../src/domain/ledger/seals/seal-note.ts";
import { type EventStore, type RecordedEvent, readEvent } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { scheduleSeals } from "../../../src/ledger/proof/seal-schedule.ts";
import { readJournalHeads, readSealedEvents } from "../../../src/ledger/proof/sealed-log.ts";
import { BadSeal, createSeals } from "../../../src/ledger/proof/seals.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { randomLag } from "../../support/eventstoredb-node/index-lag.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { createManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { keys, sealing, signer, writeBusyDay } from "./sealed-store.ts";

const system = { actor: "system" };
const options = { signer, keys, clock: Date.now, requireMeasuredClock: async () => {} };

/**
 * Continues the last seal as 0.1.0 does: with the digests of the journals, without those of their
 * envelopes.
 */
const sealAsEarlierRelease = async (store: EventStore, at: string): Promise<void> => {
  const last = await readEvent(store, "seals", { direction: "backwards" });
  const { revision = -1, data } = last as RecordedEvent & { readonly data: Sealed };
  let tree: MerkleTree = { size: data.size, edge: data.edge.map(fromHex) };
  let position = data.position;
  for (const event of await collect(readSealedEvents(store, { fromExclusive: data.position }))) {
    tree = appendLeaf(tree, eventLeaf(provenEvent(event)));
    position = event.position;
  }
  const found = await readJournalHeads(store, { fromExclusive: data.position, known: [], upTo: position });
  const journals = found.map(withoutEnvelopes);
  for (const head of journals) tree = appendLeaf(tree, journalLeaf(head));
  tree = appendLeaf(tree, sealLeaf(revision + 1, { position, at }));
  const { size, edge } = tree;
  const note = signer.sign(checkpointText({ origin: signer.name, size, root: rootOf(tree) }));
  const sealed: Sealed = { position, journals, size, edge: edge.map(toHex), note, at };
  await store.append(
    "seals",
    [{ id: randomUUID(), type: "Sealed", data: sealed, metadata: system }],
    revision,
  );
};

describe("seals", () => {
  const temporary = duringTest(openTemporaryStore);

  it("of processes that seal at the same time continue each other", async () => {
    const { log, seals } = sealing(temporary.store);
    await log.append("website-w1", "WebsiteRegistered", {
      websiteId: "w1",
      name: "example.com",
      origins: [],
    });
    const other = sealing(temporary.store).seals;
    const sealed = await Promise.all([seals.seal(system), other.seal(system), seals.seal(system)]);
    expect(sealed.map(({ revision }) => revision).sort()).to.deep.equal([0, 1, 2]);
    expect(await verifyLog(temporary.store, { keys })).to.deep.include({ seals: 3 });
  });

  it("read only what follows the last seal", async () => {
    const { seals } = sealing(temporary.store);
    await writeBusyDay(sealing(temporary.store));
    const read: (number | undefined)[] = [];
    const subscribe: typeof temporary.store.subscribe = (options) => {
      read.push(options?.fromExclusive);
      return temporary.store.subscribe(options);
    };
    const clock = () => Date.parse("2026-11-06T00:00:00.000Z");
    const { data } = await seals.seal(system);
    await createSeals({ ...options, store: { ...temporary.store, subscribe }, clock }).seal(system);
    expect(read).to.deep.equal([data.position]);
    expect(await verifyLog(temporary.store, { keys })).to.deep.include({ seals: 5 });
  });

  it("of this release and an earlier one, made in turns, continue each other", async () => {
    const { store } = temporary;
    const { log, seals } = sealing(store);
    await log.openJournal("j1");
    await log.serve("j1", "k1", [1]);
    await seals.seal(system);
    await log.serve("j1", "k1", [2]);
    await log.append("website-w1", "WebsiteRegistered", { websiteId: "w1", name: "a.example", origins: [] });
    await sealAsEarlierRelease(store, log.now());
    expect(await verifyLog(store, { keys })).to.deep.include({ seals: 2, partlyCovered: 2 });
    await log.serve("j1", "k1", [3]);
    await seals.seal(system);
    expect(await verifyLog(store, { keys })).to.deep.include({ seals: 3, partlyCovered: 0 });
  });

  it("are not made while the clock is wrong", async () => {
    const { store } = temporary;
    const wrong = new Unavailable("The clock is wrong.", 10);
    const requireMeasuredClock = async () => {
      throw wrong;
    };
    const seals = createSeals({ ...options, store, requireMeasuredClock });
    expect(await rejection(seals.seal(system))).to.equal(wrong);
    expect(await rejection(seals.sealIfDue(0, system))).to.equal(wrong);
    expect(await readEvent(store, "seals")).to.equal(undefined);
  });

  it("are made although another program appends to their stream at the same time", async () => {
    const { store } = temporary;
    let foreign = 0;
    const contended: typeof store = {
      ...store,
      append: async (stream, events, expected) => {
        if (foreign++ < 2) await sealing(store).log.append("seals", "Foreign", {});
        return await store.append(stream, events, expected);
      },
    };
    const seals = createSeals({ ...options, store: contended });
    await seals.sealIfDue(0, system);
    expect(foreign).to.equal(3);
    expect(await verifyLog(store, { keys })).to.deep.include({ seals: 1 });
  });

  it("never continue a seal that another key has signed", async () => {
    const forger = createNoteSigner(signer.name, Buffer.alloc(32, 9));
    await createSeals({ ...options, store: temporary.store, signer: forger, keys: [] }).seal(system);
    const refused = await rejection(sealing(temporary.store).seals.seal(system));
    expect(refused).to.be.instanceOf(BadSeal).with.property("message").that.includes("seal.pub");
  });

  it("cover what an EventStoreDB with an index lag shows, and nothing else", async () => {
    const node = await startEventStoreDBNode({ indexLagMs: randomLag(7) });
    const store = await openEventStoreDB({ url: node.url });
    try {
      const sealed = sealing(store);
      const others = sealing(store).seals;
      let isDone = false;
      const busy = writeBusyDay(sealed).finally(() => {
        isDone = true;
      });
      while (!isDone) {
        const time = sealed.log.now();
        await others.sealIfDue(0, system);
        await until(() => isDone || sealed.log.now() !== time);
      }
      await busy;
      await sealed.seals.seal(system);
      const { seals } = await verifyLog(store, { keys });
      expect(seals).to.be.at.least(4);
    } finally {
      await store.close();
      await node.close();
    }
  });
});

describe("the schedule of seals", () => {
  it("seals once an hour in all processes together, and reports failures until one succeeds", async () => {
    const temporary = await openTemporaryStore();
    const time = createManualTime();
    let isDown = false;
    const store: typeof temporary.store = {
      ...temporary.store,
      append: (...args) =>
        isDown ? Promise.reject(new Error("disk full")) : temporary.store.append(...args),
    };
    const errors: unknown[] = [];
    const attempts = { started: 0, ended: 0 };
    const start = Date.parse("2026-11-05T10:00:00.000Z");
    const processes = [0, 1].map(() => {
      const { sealIfDue } = createSeals({ ...options, store, clock: () => start + time.now() });
      const counted = (...args: Parameters<typeof sealIfDue>) => {
        attempts.started += 1;
        return sealIfDue(...args).finally(() => {
          attempts.ended += 1;
        });
      };
      return scheduleSeals({
        seals: { sealIfDue: counted },
        time,
        onError: (_, error) => errors.push(error),
      });
    });
    const pass = async (minutes: number): Promise<void> => {
      for (let minute = 0; minute < minutes; minute++) {
        await until(() => time.waiting() === processes.length);
        time.advance(60_000);
        await until(() => attempts.started === attempts.ended && time.waiting() === processes.length);
      }
    };
    try {
      await pass(62);
      expect(await verifyLog(store, { keys })).to.deep.include({ seals: 2 });
      const sealedAt = start + 61 * 60_000;
      expect(processes.map(({ lastSealedAt }) => lastSealedAt)).to.deep.equal([sealedAt, sealedAt]);
      isDown = true;
      await pass(62);
      expect(errors).to.have.length(2);
      expect(String(await rejection(processes[0]?.probe() ?? Promise.resolve()))).to.include(
        "could not be sealed",
      );
      isDown = false;
      await pass(1);
      await processes[0]?.probe();
      expect(await verifyLog(store, { keys })).to.deep.include({ seals: 3 });
    } finally {
      await Promise.all(processes.map(({ stop }) => stop()));
      await temporary.remove();
    }
  });

  it("begins with a seal of a log that has none, and with no other", async () => {
    await using opened = new AsyncDisposableStack();
    const temporary = await openTemporaryStore();
    opened.defer(temporary.remove);
    const errors: unknown[] = [];
    const begin = async () => {
      const seals = createSeals({ ...options, store: temporary.store });
      const time = createManualTime();
      const schedule = scheduleSeals({ seals, time, onError: (_, error) => errors.push(error) });
      opened.defer(schedule.stop);
      await schedule.begin();
      return schedule.lastSealedAt;
    };
    const sealedAt = await begin();
    expect(await begin())
      .to.equal(sealedAt)
      .and.not.equal(undefined);
    expect(await verifyLog(temporary.store, { keys })).to.deep.include({ seals: 1 });
    expect(errors).to.deep.equal([]);
  });

  it("delays a start by at most a second", async () => {
    const time = createManualTime();
    const errors: unknown[] = [];
    let isAborted = false;
    const sealIfDue = (_interval: number, _metadata: unknown, signal?: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => {
          isAborted = true;
          reject(signal.reason);
        });
      });
    const schedule = scheduleSeals({ seals: { sealIfDue }, time, onError: (_, error) => errors.push(error) });
    const begun = schedule.begin();
    time.advance(1_000);
    await begun;
    await schedule.stop();
    expect({ isAborted, errors }).to.deep.equal({ isAborted: true, errors: [] });
  });

  it("cancels a seal that is stopped while its events are being read", async () => {
    const temporary = await openTemporaryStore();
    const website = { websiteId: "w1", name: "example.com", origins: [] };
    await sealing(temporary.store).log.append("website-w1", "WebsiteRegistered", website);
    const event = (await readEvent(temporary.store, "website-w1")) as RecordedEvent;
    const time = createManualTime();
    const errors: unknown[] = [];
    const events = 100_000;
    let read = 0;
    const stopping = Promise.withResolvers<void>();
    const store: typeof temporary.store = {
      ...temporary.store,
      subscribe: async function* () {
        stopping.resolve(stop());
        const batch = Iterator.from(new Array<RecordedEvent>(events).fill(event)).map((one) => {
          read += 1;
          return one;
        });
        yield { events: batch as unknown as RecordedEvent[], position: 0, caughtUp: true };
      },
    };
    const seals = createSeals({ ...options, store, clock: () => Date.now(), time });
    const { stop } = scheduleSeals({ seals, time, onError: (_, error) => errors.push(error) });
    try {
      time.advance(60_000);
      await stopping.promise;
      expect(read).to.be.within(1, events - 1);
      expect(errors).to.deep.equal([]);
      expect(await readEvent(temporary.store, "seals")).to.equal(undefined);
    } finally {
      await temporary.remove();
    }
  });
});
