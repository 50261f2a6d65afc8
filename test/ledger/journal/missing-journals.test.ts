import { expect } from "chai";
import { Archived } from "../../../src/domain/errors.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { createMissingJournals } from "../../../src/ledger/journal/missing-journals.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { archiving, createMemoryFile, deleteJournals, writeOldJournals } from "../archive/old-journals.ts";
import { sealing } from "../proof/sealed-store.ts";

const start = "2026-01-05T10:00:00.000Z";
/** Ten minutes after the last journal was retired. */
const later = Date.parse("2026-01-05T10:15:00.000Z");

describe("the check for missing journals", () => {
  let store: EventStore;
  let remove: () => Promise<void>;
  let retiredAt: number;

  before(async () => {
    ({ store, remove } = await openTemporaryStore(() => Date.parse(start)));
    const sealed = sealing(store, start);
    await writeOldJournals(sealed);
    for await (const { type, position } of store.readStream("journals"))
      if (type === "JournalRetired") retiredAt = position;
    const { archive } = archiving(sealed, store, Date.parse("2026-08-01"));
    await archive({ before: "2026-02", file: createMemoryFile() }, { actor: "cli" });
  });
  after(() => remove());

  it("reads no archived journal that ended before the selected positions or times", async () => {
    const read: string[] = [];
    const missing = createMissingJournals({
      readStream: (stream, options) => {
        read.push(stream);
        return store.readStream(stream, options);
      },
    });
    await missing.requireNone({ fromPosition: retiredAt });
    await missing.requireNone({ fromInclusive: later });
    expect(read).to.deep.equal(["journals", "journals"]);
    await missing.requireNone({ fromPosition: retiredAt - 1 });
    expect(read.slice(2)).to.deep.equal(["journals", "journal-old-3"]);
  });

  it("finds journals that were deleted after an earlier check", async () => {
    const missing = createMissingJournals(store);
    await missing.requireNone({});
    await deleteJournals(store, ["old-3"]);
    expect(await rejection(missing.requireNone({}))).to.be.instanceOf(Archived);
    await missing.requireNone({ fromInclusive: later });
    await missing.requireNone({ fromPosition: retiredAt });
  });
});
