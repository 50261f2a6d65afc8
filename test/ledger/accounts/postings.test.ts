import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { systemTime } from "../../../src/async/time.ts";
import { keyNumberOf } from "../../../src/domain/accounts/key-numbers.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import {
  type UsageAccountEvent,
  usageAccountStream,
} from "../../../src/domain/ledger/accounts/usage-account.ts";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { NumberLists } from "../../../src/ledger/accounts/number-lists.ts";
import { Postings } from "../../../src/ledger/accounts/postings.ts";
import { createJournalAppender } from "../../support/append-to-journal.ts";
import { servingsVoided, synthesesServed } from "../../support/build-journal-events.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openPostedJournal } from "./posted-journal.ts";

const at = "2026-11-30T12:00:00.000Z";

describe("postings", () => {
  const temporary = duringTest(openTemporaryStore);

  const account = async (apiKey: string, month = "2026-11") => {
    const events = await collect(temporary.store.readStream(usageAccountStream(apiKey, month)));
    return events.map(({ type, data }) => ({ type, data }) as UsageAccountEvent);
  };
  const posted = async (apiKey: string) =>
    (await account(apiKey)).flatMap(({ data }) =>
      "requests" in data ? [[data.requests, "through" in data && data.through]] : [],
    );

  it("post a key when it has the maximum number of servings, without waiting for the next check", async () => {
    const { record, postings } = await openPostedJournal(temporary.store, { maxServings: 3 });
    await record(synthesesServed(at, [{ apiKey: "a" }, { apiKey: "a" }, { apiKey: "b" }]));
    await record(synthesesServed(at, [{ apiKey: "a" }]));
    await postings.post();
    expect(await posted("a")).to.deep.equal([[3, 1]]);
    expect(await posted("b")).to.deep.equal([]);
  });

  it("post a key when its oldest entry is 15 minutes old", async () => {
    const { record, advance } = await openPostedJournal(temporary.store);
    await record(synthesesServed(at, [{ apiKey: "a" }]));
    await advance(13 * 60_000);
    await record(synthesesServed(at, [{ apiKey: "b" }]));
    expect(await posted("a")).to.deep.equal([]);
    await advance(60_000);
    expect(await posted("a")).to.deep.equal([[1, 0]]);
    expect(await posted("b")).to.deep.equal([]);
  });

  it("name the revision, the digest and the time of the key's last entry", async () => {
    const { record, postings, log } = await openPostedJournal(temporary.store);
    await record(synthesesServed(at, [{ apiKey: "b" }]));
    await record(synthesesServed(at, [{ apiKey: "a", characters: 5 }]));
    const digest = await log.append(servingsVoided(at, [{ apiKey: "a", characters: 5, servedAt: at }]));
    postings.add([digest]);
    await postings.close();
    const [event] = await account("a");
    const range = { from: 0, through: 2, ranges: [1, 2], digest: digest.digest, until: at };
    expect(event?.data).to.include({ journal: log.journal, requests: 0, characters: 0 });
    expect(event?.data).to.deep.include({ ...range, voided: { requests: 1, characters: 5 }, cells: [] });
  });

  it("belong to the keys whose numbers come with the event, whatever their order", async () => {
    const { postings, log } = await openPostedJournal(temporary.store);
    const [first, second] = ["numbered-1", "numbered-2"].map(keyNumberOf);
    const servings = [
      { apiKey: "numbered-2", characters: 5 },
      { apiKey: "numbered-1" },
      { apiKey: "numbered-2" },
    ];
    const event = await log.append(synthesesServed(at, servings));
    postings.add([{ ...event, keyNumbers: [second ?? -1, first ?? -1] }]);
    await postings.close();
    expect(await posted("numbered-1")).to.deep.equal([[1, 0]]);
    expect(await posted("numbered-2")).to.deep.equal([[2, 0]]);
  });

  it("free the memory of the ranges that they have posted", async () => {
    const { record, postings } = await openPostedJournal(temporary.store);
    const cleared: number[] = [];
    const { clear } = NumberLists.prototype;
    NumberLists.prototype.clear = function (list) {
      cleared.push([...this.read(list)].length);
      clear.call(this, list);
    };
    try {
      await record(synthesesServed(at, [{ apiKey: "a" }]));
      for (let n = 0; n < 20; n++) await record(synthesesServed(at, [{ apiKey: "b" }]));
      await record(synthesesServed(at, [{ apiKey: "a" }]));
      await postings.close();
    } finally {
      NumberLists.prototype.clear = clear;
    }
    expect(cleared).to.have.members([2, 0]);
  });

  it("mark the revision up to which all entries are posted, when it changes", async () => {
    const { record, advance, log } = await openPostedJournal(temporary.store, { maxServings: 1 });
    const marks = async () => {
      const events = await collect(temporary.store.readStream(`journal-${log.journal}`));
      return events.flatMap(({ data }) => ("through" in data ? [data.through] : []));
    };
    await record(synthesesServed(at, [{ apiKey: "a" }]));
    await advance(60_000);
    await record(synthesesServed(at, [{ apiKey: "a" }]));
    await advance(60_000);
    await advance(60_000);
    expect(await marks()).to.deep.equal([0, 2]);
  });

  it("of a new journal read an account back to the last posting before it, past a crossed threshold", async () => {
    const earlier = await openPostedJournal(temporary.store, { maxServings: 1 });
    for (let posting = 0; posting < 5; posting++) {
      await earlier.record(synthesesServed(at, [{ apiKey: "a" }]));
      await earlier.postings.post();
    }
    const stream = usageAccountStream("a", "2026-11");
    const crossed = { threshold: 80, characters: 80, quota: 100, at };
    await temporary.store.append(
      stream,
      [{ id: randomUUID(), type: "QuotaThresholdCrossed", data: crossed, metadata: { actor: "system" } }],
      "any",
    );
    const read: string[] = [];
    const store: EventStore = {
      ...temporary.store,
      readStream: async function* (name, options) {
        for await (const event of temporary.store.readStream(name, options)) {
          if (name === stream) read.push(event.type);
          yield event;
        }
      },
    };
    const readByNewJournal = async (): Promise<string[]> => {
      const later = await openPostedJournal(store, { maxServings: 1 });
      await later.record(synthesesServed(at, [{ apiKey: "a" }]));
      await later.postings.post();
      return read.splice(0);
    };
    expect(await readByNewJournal()).to.deep.equal(["QuotaThresholdCrossed", "UsagePosted"]);
    expect(await readByNewJournal()).to.deep.equal(["UsagePosted"]);
    const last = (await account("a")).at(-1);
    expect(last?.data).to.deep.include({ balance: { requests: 7, characters: 77 } });
  });

  it("keep an entry until the event store is available again, and post it once", async () => {
    let fails = true;
    const store: EventStore = {
      ...temporary.store,
      append: async (...args) => {
        const result = await temporary.store.append(...args);
        // The events are stored, but the response is lost.
        if (fails && args[0].startsWith("usage-")) throw new EventStoreUnavailable("down");
        return result;
      },
    };
    const log = createJournalAppender(temporary.store);
    const postings = new Postings({
      store,
      journal: log.journal,
      fromExclusive: -1,
      clock: () => Date.parse(at),
      time: { now: systemTime.now, after: (ms, run) => systemTime.after(Math.min(ms, 50), run) },
      notePosted: () => {},
      onError: () => {},
      maxAgeMs: Number.POSITIVE_INFINITY,
    });
    postings.add([await log.append(synthesesServed(at, [{ apiKey: "a" }]))]);
    expect(await rejection(postings.close())).to.be.instanceOf(Unavailable);
    fails = false;
    postings.add([await log.append(synthesesServed(at, [{ apiKey: "a" }]))]);
    await postings.close();
    expect(await posted("a")).to.deep.equal([
      [1, 0],
      [1, 1],
    ]);
  });
});
