import { expect } from "chai";
import { eventDigest } from "../../../src/domain/ledger/journal/canonical.ts";
import { journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import { uuidv7 } from "../../../src/eventstore/uuid.ts";
import { closeJournal } from "../../../src/ledger/journal/close-journal.ts";
import { readJournalEnd, readPostedUpTo } from "../../../src/ledger/journal/journal-reader.ts";
import { JournalWriter } from "../../../src/ledger/journal/journal-writer.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { readJournal } from "../../support/read-journal.ts";
import { serving, voided } from "../../support/servings.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

const journal = "0193";
const at = "2026-11-05T10:00:00.000Z";
const clock = () => Date.parse(at);

describe("the reader of a journal", () => {
  const temporary = duringTest(openTemporaryStore);

  const writer = () => new JournalWriter({ store: temporary.store, journal, clock });

  const appendPosted = (through: number, expected: number) => {
    const data = { at, previous: "", through };
    const event = { id: uuidv7(clock()), type: "JournalPosted", data, metadata: {} };
    return temporary.store.append(journalStream(journal), [event], expected);
  };

  it("expands every event, from the given revision on", async () => {
    const { store } = temporary;
    const end = {
      apiKey: "vlk_1",
      requestId: "r-1",
      hash: "ab",
      outcome: "left",
      bytes: 4,
      chunks: 1,
    } as const;
    const own = writer();
    own.addServing(serving(), 0, () => {});
    own.addVoids([voided(serving(), at)]);
    own.addStreamEnd(end);
    own.notePosted(7);
    await own.close("idle");
    const entries = await collect(readJournal(store, journal));
    const stored = await collect(store.readStream(journalStream(journal)));
    expect(
      entries.map(({ revision, position, at: time, digest }) => [revision, position, time, digest]),
    ).to.deep.equal(stored.map((event) => [event.revision, event.position, at, eventDigest(event)]));
    expect(entries.flatMap(({ servings }) => servings)).to.deep.equal([serving()]);
    expect(entries.flatMap(({ voided: voids }) => voids)).to.deep.equal([voided(serving(), at)]);
    expect(entries.flatMap(({ streams }) => streams)).to.deep.equal([end]);
    expect(entries.map((entry) => entry.postedThrough)).to.deep.equal([
      undefined,
      undefined,
      undefined,
      7,
      undefined,
    ]);
    expect(entries.map(({ closed }) => closed)).to.deep.equal([false, false, false, false, true]);
    expect(
      (await collect(readJournal(store, journal, { fromInclusive: 3 }))).map(({ revision }) => revision),
    ).to.deep.equal([3, 4]);
  });

  it("finds the end of a journal, open or closed, also if postings follow its end", async () => {
    const { store } = temporary;
    expect(await readJournalEnd(store, journal)).to.equal(undefined);
    expect(await readPostedUpTo(store, journal)).to.equal(-1);
    const own = writer();
    own.addServing(serving(), 0, () => {});
    own.notePosted(0);
    await own.flushed();
    expect(await readJournalEnd(store, journal)).to.deep.include({
      revision: 1,
      closed: false,
      closedRevision: undefined,
    });
    await closeJournal(store, clock, journal, "silent");
    expect(await readJournalEnd(store, journal)).to.deep.include({
      revision: 2,
      closed: true,
      closedRevision: 2,
    });
    await appendPosted(2, 2);
    const [, , , last] = await collect(store.readStream(journalStream(journal)));
    expect(await readJournalEnd(store, journal)).to.deep.equal({
      revision: 3,
      digest: last && eventDigest(last),
      at,
      closed: true,
      closedRevision: 2,
    });
    expect(await readPostedUpTo(store, journal)).to.equal(2);
  });

  describe("after a journal was closed", () => {
    it("shows one closing event, linked to the last one, however often it is closed", async () => {
      const { store } = temporary;
      const own = writer();
      own.addServing(serving(), 0, () => {});
      await own.flushed();
      const earlier = () => clock() - 60_000;
      const closings = [1, 2, 3].map(() => closeJournal(store, earlier, journal, "unresponsive"));
      expect(await Promise.all(closings)).to.deep.equal([1, 1, 1]);
      await appendPosted(1, 1);
      expect(await closeJournal(store, clock, journal, "silent")).to.equal(1);
      const [served, closed] = await collect(store.readStream(journalStream(journal)));
      expect(closed?.data).to.deep.equal({
        at,
        previous: served && eventDigest(served),
        reason: "unresponsive",
      });
    });

    it("shows the closing event of a journal without other events", async () => {
      expect(await closeJournal(temporary.store, clock, journal, "silent")).to.equal(0);
      const [closed] = await collect(readJournal(temporary.store, journal));
      expect(closed).to.deep.include({ revision: 0, at, closed: true });
    });
  });
});
