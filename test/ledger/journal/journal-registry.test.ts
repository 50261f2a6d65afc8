import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { journalRegistryStream } from "../../../src/domain/ledger/journal/journal-registry.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { validatedEventStore } from "../../../src/eventstore/validated-event-store.ts";
import {
  createJournalRegistry,
  listOpenJournals,
  readJournalRegistry,
  readRegistrySnapshot,
} from "../../../src/ledger/journal/journal-registry.ts";
import { RecentCharges } from "../../../src/ledger/session/recent-charges.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

describe("the registry of journals", () => {
  const temporary = duringTest(openTemporaryStore);

  const registry = () => createJournalRegistry(createCommandHandler({ store: temporary.store }), Date.now);
  const types = async () =>
    (await collect(temporary.store.readStream(journalRegistryStream))).map(({ type }) => type);

  it("lists the journals that are opened and not retired", async () => {
    const { store } = temporary;
    expect(await listOpenJournals(store)).to.deep.equal([]);
    const journals = registry();
    await journals.open("a");
    await journals.open("b");
    await registry().open("c");
    await journals.forget("b");
    expect(await listOpenJournals(store)).to.deep.equal(["a", "c"]);
  });

  it("records each journal once, however often it is opened or retired", async () => {
    const journals = registry();
    const position = await journals.open("a");
    expect(await journals.open("a")).to.equal(position);
    await journals.forget("a");
    await journals.forget("a");
    await journals.forget("never opened");
    expect(await types()).to.deep.equal(["JournalOpened", "JournalRetired"]);
  });

  it("resolves with a position at or after the registration", async () => {
    const position = await registry().open("a");
    const event = await temporary.store.eventAt(position);
    expect(event).to.deep.include({ stream: journalRegistryStream, type: "JournalOpened" });
  });

  it("restores its state from the last event alone", async () => {
    const journals = registry();
    await journals.open("a");
    await journals.open("b");
    const position = await journals.open("c");
    const snapshot = await readJournalRegistry(temporary.store);
    expect(snapshot).to.deep.equal({ state: ["a", "b", "c"], revision: 2, position });
  });

  it("restores its state from the last four events after the archive of journals", async () => {
    const { store } = temporary;
    const position = await registry().open("a");
    await store.append(
      journalRegistryStream,
      [{ id: randomUUID(), type: "JournalsArchived", data: {}, metadata: {} }],
      0,
    );
    const limits: (number | undefined)[] = [];
    const watched: EventStore = {
      ...store,
      readStream: (stream, options) => {
        limits.push(options?.limit);
        return store.readStream(stream, options);
      },
    };
    expect(await readJournalRegistry(watched)).to.deep.equal({ state: ["a"], revision: 0, position });
    expect(limits).to.deep.equal([1, 4]);
  });

  it("ignores events of other programs in its stream", async () => {
    const { store } = temporary;
    await registry().open("a");
    const foreign = { id: randomUUID(), type: "JournalOpened", data: { open: "all" }, metadata: {} };
    const unknown = { id: randomUUID(), type: "Imported", data: { rows: 3 }, metadata: {} };
    await store.append(journalRegistryStream, [foreign, unknown], 0);
    expect(await listOpenJournals(store)).to.deep.equal(["a"]);
    const validated = validatedEventStore(store);
    const handler = createCommandHandler({ store: validated, readSnapshot: readRegistrySnapshot(validated) });
    await createJournalRegistry(handler, Date.now).open("b");
    await createJournalRegistry(createCommandHandler({ store: validated }), Date.now).open("c");
    expect(await listOpenJournals(store)).to.deep.equal(["a", "b", "c"]);
    const recentCharges = new RecentCharges({ store: validated, clock: Date.now });
    await recentCharges.follow("d", 0);
    recentCharges.close();
  });
});
