import { expect } from "chai";
import { systemTime, type Time } from "../../../src/async/time.ts";
import {
  type EventStore,
  EventStoreUnavailable,
  WrongExpectedRevision,
} from "../../../src/eventstore/event-store.ts";
import { closeJournal } from "../../../src/ledger/journal/close-journal.ts";
import { appendToJournal } from "../../../src/ledger/journal/journal-append.ts";
import { event } from "../../contracts/event-store/events.ts";
import { duringTest } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

const stream = "journal-j1";
/** Delays pass at once. */
const time: Time = { ...systemTime, after: (_, run) => systemTime.after(0, run) };

describe("a conflict about an event that is lost with a cluster's leader", () => {
  const temporary = duringTest(openTemporaryStore);

  /** A store whose first appends conflict with an event that it never shows. */
  const conflicting = (conflicts: number): EventStore => ({
    ...temporary.store,
    append: (...args) =>
      conflicts-- > 0
        ? Promise.reject(new WrongExpectedRevision(stream, args[2], 0))
        : temporary.store.append(...args),
  });

  it("does not keep the journal's process from appending", async () => {
    const options = { time, signal: new AbortController().signal, onUnavailable: () => {} };
    const store = conflicting(1);
    const { end } = await appendToJournal(stream, [event()], -1, { ...options, store });
    expect(end?.revision).to.equal(0);
  });

  it("ends an attempt to close the journal, and the next one closes it", async () => {
    const store = conflicting(1);
    const close = () => closeJournal(store, Date.now, "j1", "silent", time);
    expect(await rejection(close())).to.be.instanceOf(EventStoreUnavailable);
    expect(await close()).to.equal(0);
  });
});
