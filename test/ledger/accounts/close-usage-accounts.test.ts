import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { Unavailable } from "../../../src/domain/errors.ts";
import {
  type UsageAccountEvent,
  usageAccountStream,
} from "../../../src/domain/ledger/accounts/usage-account.ts";
import { digestOfEvents } from "../../../src/domain/ledger/journal/canonical.ts";
import { createCloseUsageAccounts } from "../../../src/ledger/accounts/close-usage-accounts.ts";
import { listOpenJournals } from "../../../src/ledger/journal/journal-registry.ts";
import { createSweepIdleJournals } from "../../../src/ledger/session/recover-journals.ts";
import { synthesesServed } from "../../support/build-journal-events.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { createManualTime } from "../../support/manual-time.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { createRecovery, openPostedJournal } from "./posted-journal.ts";

const at = "2026-11-30T23:59:00.000Z";

describe("the sweep of accounts and journals", () => {
  const temporary = duringTest(openTemporaryStore);

  const account = async (apiKey: string) => {
    const events = await collect(temporary.store.readStream(usageAccountStream(apiKey, "2026-11")));
    return events.map(({ type, data }) => ({ type, data }) as UsageAccountEvent);
  };
  const fail = (what: string, error: unknown) => {
    throw new Error(what, { cause: error });
  };

  it("closes no account while the clock is wrong", async () => {
    const { store } = temporary;
    const { record, postings } = await openPostedJournal(store);
    await record(synthesesServed(at, [{ apiKey: "a" }]));
    await postings.close();
    await record({ type: "JournalPosted", data: { through: 0, at, previous: null } });
    const errors: unknown[] = [];
    let isWrong = true;
    const closeAccounts = createCloseUsageAccounts({
      store,
      apiKeys: () => ["a"],
      clock: () => Date.parse("2026-12-05T00:00:00.000Z"),
      requireMeasuredClock: async () => {
        if (isWrong) throw new Unavailable("The clock is wrong.", 10);
      },
      onError: (_, error) => errors.push(error),
    });
    await closeAccounts();
    expect((await account("a")).map(({ type }) => type)).to.deep.equal(["UsagePosted"]);
    expect(errors).to.have.length(1);
    isWrong = false;
    await closeAccounts();
    expect((await account("a")).map(({ type }) => type)).to.deep.equal(["UsagePosted", "AccountClosed"]);
  });

  it("closes each account of a month once, a day after the month's end, some keys per step", async () => {
    const { store } = temporary;
    const { record, postings } = await openPostedJournal(store);
    await record(synthesesServed(at, [{ apiKey: "a" }, { apiKey: "b" }]));
    let now = Date.parse("2026-12-01T23:00:00.000Z");
    const closeAccounts = createCloseUsageAccounts({
      store,
      apiKeys: () => ["a", "unused", "b"],
      clock: () => now,
      onError: fail,
      keysPerStep: 2,
    });
    await closeAccounts();
    now = Date.parse("2026-12-02T00:00:00.000Z");
    await closeAccounts();
    expect(await account("a"), "unposted").to.deep.equal([]);
    await postings.close();
    await record(synthesesServed("2026-12-02T00:00:00.000Z", [{ apiKey: "a" }]));
    const mark = { through: 0, at: "2026-12-02T00:00:00.000Z", previous: null };
    await record({ type: "JournalPosted", data: mark });
    await closeAccounts();
    const [posting, closing] = await account("a");
    expect(closing?.data).to.include({ requests: 1, characters: 11 });
    expect(closing?.data).to.include({ digest: digestOfEvents(posting ? [posting] : []) });
    expect(await account("b")).to.have.length(1);
    for (let steps = 0; steps < 4; steps++) await closeAccounts();
    expect((await account("a")).map(({ type }) => type)).to.deep.equal(["UsagePosted", "AccountClosed"]);
    expect((await account("b")).map(({ type }) => type)).to.deep.equal(["UsagePosted", "AccountClosed"]);
  });

  it("continues with the account that could not be closed, or with the keys that could not be read", async () => {
    const { store } = temporary;
    const { record, postings } = await openPostedJournal(store);
    await record(synthesesServed(at, [{ apiKey: "a" }, { apiKey: "b" }]));
    await postings.close();
    await record({ type: "JournalPosted", data: { through: 0, at, previous: null } });
    const failing = new Set(["keys", "b"]);
    const failOnce = (name: string) => {
      if (failing.delete(name)) throw new Error(name);
    };
    const reads: string[] = [];
    const errors: string[] = [];
    const closeAccounts = createCloseUsageAccounts({
      store: {
        ...store,
        readStream: (stream, options) => {
          reads.push(stream);
          return store.readStream(stream, options);
        },
        append: async (stream, events, expected) => {
          if (stream === usageAccountStream("b", "2026-11")) failOnce("b");
          return await store.append(stream, events, expected);
        },
      },
      apiKeys: () => {
        failOnce("keys");
        return ["a", "b"];
      },
      clock: () => Date.parse("2026-12-02T00:00:00.000Z"),
      onError: (_what, error) => errors.push((error as Error).message),
    });
    await closeAccounts();
    await closeAccounts();
    expect(errors).to.deep.equal(["keys", "b"]);
    reads.length = 0;
    await closeAccounts();
    expect(reads).to.not.include(usageAccountStream("a", "2026-11"));
    for (const apiKey of ["a", "b"])
      expect((await account(apiKey)).map(({ type }) => type)).to.deep.equal(["UsagePosted", "AccountClosed"]);
  });

  it("closes an account with the totals of a posting that was appended meanwhile", async () => {
    const { store } = temporary;
    const [first, second] = [await openPostedJournal(store), await openPostedJournal(store)];
    await first.record(synthesesServed(at, [{ apiKey: "a" }]));
    await second.record(synthesesServed(at, [{ apiKey: "a" }]));
    await first.postings.close();
    let conflicts = 0;
    const closeAccounts = createCloseUsageAccounts({
      store: {
        ...store,
        append: async (stream, events, expected) => {
          if (conflicts++ === 0) await second.postings.close();
          return await store.append(stream, events, expected);
        },
      },
      apiKeys: () => ["a"],
      clock: () => Date.parse("2026-12-02T00:00:00.000Z"),
      onError: fail,
    });
    const mark = { through: 0, at, previous: null };
    for (const { log } of [first, second]) await log.append({ type: "JournalPosted", data: mark });
    await closeAccounts();
    const events = await account("a");
    expect(events.map(({ type }) => type)).to.deep.equal(["UsagePosted", "UsagePosted", "AccountClosed"]);
    expect(events[2]?.data).to.include({ requests: 2, digest: digestOfEvents(events.slice(0, 2)) });
    expect(conflicts).to.equal(2);
  });

  it("recovers a journal that was silent for 15 minutes by the store's clock, and not its own", async () => {
    const { store } = temporary;
    const [gone, own] = [await openPostedJournal(store), await openPostedJournal(store)];
    await gone.record(synthesesServed(at, [{ apiKey: "a" }]));
    const time = createManualTime();
    const recovered: string[] = [];
    const failed: number[] = [];
    let isDown = true;
    const sweep = createSweepIdleJournals({
      store,
      time,
      onError: (_, error) => expect(error).to.be.instanceOf(Unavailable),
      onSwept: (count) => failed.push(count),
      recoverJournal: async (journal) => {
        if (isDown) throw new Unavailable("The event store is down.", 1);
        recovered.push(journal);
        await gone.log.close(at);
        await createRecovery(store, at)(journal, "silent");
      },
    });
    await sweep(own.log.journal);
    time.advance(14 * 60_000);
    await sweep(own.log.journal);
    expect(failed).to.deep.equal([0, 0]);
    time.advance(60_000);
    await sweep(own.log.journal);
    expect([recovered, failed]).to.deep.equal([[], [0, 0, 1]]);
    isDown = false;
    await sweep(own.log.journal);
    await sweep(own.log.journal);
    expect(failed).to.deep.equal([0, 0, 1, 0, 0]);
    expect(recovered).to.deep.equal([gone.log.journal]);
    expect((await account("a")).map(({ data }) => "requests" in data && data.requests)).to.deep.equal([1]);
  });

  it("retires a journal whose last entries came after their account was closed", async () => {
    const { store } = temporary;
    const [late, other] = [await openPostedJournal(store), await openPostedJournal(store)];
    await other.record(synthesesServed(at, [{ apiKey: "a" }]));
    await other.postings.close();
    const closing = { requests: 1, characters: 11, voided: { requests: 0, characters: 0 }, digest: "", at };
    const event = { id: randomUUID(), type: "AccountClosed", data: closing, metadata: {} };
    await store.append(usageAccountStream("a", "2026-11"), [event], 0);
    await late.log.append(synthesesServed(at, [{ apiKey: "a" }]));
    await late.log.close(at);
    const errors: string[] = [];
    await createRecovery(store, at, (what) => errors.push(what))(late.log.journal, "silent");
    expect(await listOpenJournals(store)).to.deep.equal([other.log.journal]);
    expect(errors).to.deep.equal(["usage of a in 2026-11 came after the account was closed"]);
  });
});
