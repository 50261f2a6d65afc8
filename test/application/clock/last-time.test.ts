import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { readLastTime, readLastTimeOfServices } from "../../../src/application/clock/last-time.ts";
import { journalRegistryStream } from "../../../src/domain/ledger/journal/journal-registry.ts";
import { sealsStream } from "../../../src/domain/ledger/seals/seal.ts";
import { logStream } from "../../../src/domain/log-format.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { createJournalledLog } from "../../ledger/proof/journalled-log.ts";
import { openTemporaryStore, type TemporaryStore } from "../../support/temporary-store.ts";

const serving = Date.parse("2026-01-05T10:00:01.000Z");
const ahead = Date.parse("2031-01-01T00:00:00.000Z");

describe("the last time that a log has", () => {
  let temporary: TemporaryStore;
  let store: EventStore;
  let now: number;
  beforeEach(async () => {
    now = serving;
    temporary = await openTemporaryStore(() => now);
    store = temporary.store;
  });
  afterEach(() => temporary.remove());

  const append = (stream: string, type: string, data: object) =>
    store.append(stream, [{ id: randomUUID(), type, data, metadata: { actor: "cli" } }], "any");
  const times = async () => [await readLastTime(store), await readLastTimeOfServices(store)];

  it("is none in an empty log", async () => {
    expect(await times()).to.deep.equal([0, 0]);
  });

  it("of services is not that of seals and archives, which commands record", async () => {
    await createJournalledLog(store, "2026-01-05T10:00:00.000Z").openJournal("one");
    now = ahead;
    await append(sealsStream, "Sealed", {});
    const archived = { file: "f", journals: ["old"], events: 1, root: "r", days: [], note: "n" };
    await append(journalRegistryStream, "JournalsArchived", {
      ...archived,
      at: new Date(ahead).toISOString(),
    });
    expect(await times()).to.deep.equal([ahead, serving]);
  });

  it("is not one of a wrong clock that was corrected", async () => {
    await createJournalledLog(store, "2031-01-01T00:00:00.000Z").openJournal("one");
    const at = new Date(serving).toISOString();
    const until = new Date(ahead + 60_000).toISOString();
    await append(logStream, "ClockCorrected", { at, until, journals: [] });
    expect(await times()).to.deep.equal([serving, serving]);
  });
});
