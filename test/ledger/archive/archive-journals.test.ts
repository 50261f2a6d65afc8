import { createHash } from "node:crypto";
import { expect } from "chai";
import { Invalid, Unavailable } from "../../../src/domain/errors.ts";
import type { JournalsArchived } from "../../../src/domain/ledger/archive/journals-archived.ts";
import { NotGenuine } from "../../../src/domain/ledger/proof/not-genuine.ts";
import { createNoteSigner } from "../../../src/domain/ledger/seals/note-signer.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import {
  type EventStore,
  EventStoreUnavailable,
  WrongExpectedRevision,
} from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import type { ArchivedJournals } from "../../../src/ledger/archive/archive-journals.ts";
import {
  createJournalRegistry,
  listOpenJournals,
  readRegistrySnapshot,
} from "../../../src/ledger/journal/journal-registry.ts";
import { verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { collect } from "../../support/collect.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { keys, sealing, signer, verify } from "../proof/sealed-store.ts";
import {
  archiveFile,
  archiving,
  clock,
  createMemoryFile,
  type MemoryFile,
  start,
  withoutJournals,
  writeOldJournals,
} from "./old-journals.ts";

const dayMs = 24 * 60 * 60_000;
const later = clock() + 200 * dayMs;
const month = new Date(later).toISOString().slice(0, 7);
const old = ["old-1", "old-2", "old-3"];

interface Opened {
  readonly store: EventStore;
  close(): Promise<void>;
}

const stores: Readonly<Record<string, () => Promise<Opened>>> = {
  SQLite: async () => {
    const { store, remove } = await openTemporaryStore(clock);
    return { store, close: remove };
  },
  EventStoreDB: async () => {
    const node = await startEventStoreDBNode({ clock });
    const store = await openEventStoreDB({ url: node.url });
    return {
      store,
      close: async () => {
        await store.close();
        await node.close();
      },
    };
  },
};

/** The note with another signature of the same key. */
const withOtherSignature = (note: string): string => {
  const other = signer.sign("another text\n");
  return note.slice(0, note.lastIndexOf("\n\n")) + other.slice(other.lastIndexOf("\n\n"));
};

const refusal = async (verified: Promise<unknown>): Promise<string> => {
  const error = await rejection(verified);
  if (!(error instanceof NotGenuine)) throw error;
  return error.message;
};

for (const [name, open] of Object.entries(stores)) {
  describe(`an archive of journals on ${name}`, () => {
    let opened: Opened;
    let sealed: ReturnType<typeof sealing>;
    let file: MemoryFile;
    let archived: ArchivedJournals;
    /** The log as it would be without the archived journals. */
    let removed: EventStore;

    before(async () => {
      opened = await open();
      sealed = sealing(opened.store, start);
      await writeOldJournals(sealed);
      file = createMemoryFile();
      archived = await archiving(sealed, opened.store, later).archive(
        { before: month, file },
        { actor: "cli" },
      );
      removed = withoutJournals(opened.store, old);
    });
    after(() => opened.close());

    const eventOf = async (): Promise<JournalsArchived> => {
      const registry = await collect(opened.store.readStream("journals"));
      return registry.find(({ type }) => type === "JournalsArchived")?.data as JournalsArchived;
    };

    it("has all events of the journals, and the log names it", async () => {
      expect(archived).to.deep.include({ journals: old, events: 10, remaining: 0 });
      expect(file.isPublished).to.equal(true);
      const lines = file.content.toString().trimEnd().split("\n");
      expect(lines).to.have.length(archived.events + 1);
      const event = await eventOf();
      expect(event.file).to.equal(createHash("sha256").update(file.content).digest("hex"));
      expect(event.days.reduce((sum, { characters }) => sum + characters, 0)).to.equal(114);
      expect(event.days.reduce((sum, { requests }) => sum + requests, 0)).to.equal(5);
    });

    it("changes nothing for the verification of a log that still has the journals", async () => {
      const summary = await verifyLog(opened.store, { keys });
      expect(summary).to.deep.include({ missingArchives: [], seals: 3, unsealed: 0 });
      const archives = [archiveFile(file.content)];
      expect(await verifyLog(opened.store, { keys, archives })).to.deep.equal(summary);
    });

    it("stands in for journals that the log lacks", async () => {
      const complete = await verifyLog(opened.store, { keys });
      const archives = [archiveFile(file.content)];
      expect(await verifyLog(removed, { keys, archives })).to.deep.equal(complete);
      const missingArchives = [{ file: archived.file, journals: 3 }];
      const events = complete.events - archived.events;
      expect(await verifyLog(removed, { keys })).to.deep.equal({ ...complete, events, missingArchives });
    });

    it("stands in for the rest of journals that are partly removed", async () => {
      const partly: EventStore = {
        ...opened.store,
        async *readStream(stream, options) {
          const isFirst = (revision: number): boolean => stream === "journal-old-2" && revision < 2;
          for await (const event of opened.store.readStream(stream, options))
            if (!isFirst(event.revision)) yield event;
        },
        async *subscribe(options) {
          for await (const batch of opened.store.subscribe(options)) {
            const events = batch.events.filter(
              ({ stream, revision }) => stream !== "journal-old-2" || revision >= 2,
            );
            yield { ...batch, events };
          }
        },
      };
      expect((await verifyLog(partly, { keys })).missingArchives).to.deep.equal([
        { file: archived.file, journals: 1 },
      ]);
      const archives = [archiveFile(file.content)];
      expect((await verifyLog(partly, { keys, archives })).missingArchives).to.deep.equal([]);
    });

    it("stands in for journals that an export lacks", async () => {
      const text = await sealing(removed, start).exported();
      expect(text.toString()).not.to.include('"stream":"journal-');
      const missingArchives = [{ file: archived.file, journals: 3 }];
      expect((await verify(text)).missingArchives).to.deep.equal(missingArchives);
      const archives = [archiveFile(file.content)];
      expect((await verify(text, { keys, archives })).missingArchives).to.deep.equal([]);
    });

    it("is refused if it was edited, or is of another log", async () => {
      const edited = Buffer.from(
        file.content.toString().replace('"characters":[12,30]', '"characters":[12,31]'),
      );
      expect(edited.equals(file.content)).to.equal(false);
      for (const content of [edited, Buffer.alloc(0)]) {
        const archives = [archiveFile(content)];
        expect(await refusal(verifyLog(removed, { keys, archives }))).to.match(
          /^the archive archive\.ndjson has the SHA-256 [0-9a-f]{64}, which no sealed archive has$/,
        );
      }
    });

    it("is refused if it changes between its two reads", async () => {
      let reads = 0;
      const content = file.content.toString();
      const [changed = ""] = content.split(/(?<=\n)/);
      const open = () =>
        archiveFile(Buffer.from(reads++ === 0 ? content : content.replace(changed, ""))).open();
      const archives = [{ path: "a", open }];
      expect(await refusal(verifyLog(removed, { keys, archives }))).to.match(/line 0 is missing/);
    });

    it("does not excuse a changed event of a journal that the log still has", async () => {
      const changed: EventStore = {
        ...opened.store,
        async *subscribe(options) {
          for await (const batch of opened.store.subscribe(options)) {
            const events = batch.events.map((event) =>
              event.stream === "journal-old-3" && event.revision === 0
                ? { ...event, data: { ...event.data, characters: [6] } }
                : event,
            );
            yield { ...batch, events };
          }
        },
      };
      expect(await refusal(verifyLog(changed, { keys }))).to.include("journal-old-3");
      const archives = [archiveFile(file.content)];
      expect(await refusal(verifyLog(changed, { keys, archives }))).to.match(
        /^journal-old-3 revision 0 .* differs from the archived event$/,
      );
    });

    it("is not repeated: nothing is left to archive", async () => {
      const another = createMemoryFile();
      const error = await rejection(
        archiving(sealed, opened.store, later).archive({ before: month, file: another }, { actor: "cli" }),
      );
      expect(error).to.be.instanceOf(Invalid);
      expect(another.content).to.have.length(0);
    });

    it("leaves the registry to running instances", async () => {
      const { store } = opened;
      const handler = createCommandHandler({ store, readSnapshot: readRegistrySnapshot(store) });
      const registry = createJournalRegistry(handler, () => later);
      expect(await listOpenJournals(store)).to.deep.equal([]);
      await registry.open("next");
      expect(await listOpenJournals(store)).to.deep.equal(["next"]);
      await registry.forget("next");
      await sealed.seals.seal({ actor: "system" });
      expect((await verifyLog(store, { keys })).seals).to.be.greaterThan(3);
      await handler.drain();
    });
  });
}

describe("an archive of journals", () => {
  let remove: () => Promise<void>;
  let store: EventStore;
  let sealed: ReturnType<typeof sealing>;

  beforeEach(async () => {
    const opened = await openTemporaryStore(clock);
    ({ store, remove } = opened);
    sealed = sealing(store, start);
    await writeOldJournals(sealed);
  });
  afterEach(() => remove());

  const archive = (file: MemoryFile, options: { max?: number; month?: string; now?: number } = {}) =>
    archiving(
      sealed,
      store,
      options.now ?? later,
      options.max === undefined ? {} : { maxJournals: options.max },
    ).archive({ before: options.month ?? month, file }, { actor: "cli" });
  const archiveEvents = async () =>
    (await collect(store.readStream("journals"))).filter(({ type }) => type === "JournalsArchived");

  it("takes only journals whose last event precedes the month and is older than 90 days", async () => {
    for (const options of [{ month: start.slice(0, 7) }, { now: clock() + 89 * dayMs }]) {
      const error = await rejection(archive(createMemoryFile(), options));
      expect(error, JSON.stringify(options)).to.be.instanceOf(Invalid);
    }
    expect(await rejection(archive(createMemoryFile(), { month: "2026-13" }))).to.be.instanceOf(Invalid);
    const now = clock() + 91 * dayMs;
    expect((await archive(createMemoryFile(), { now })).journals).to.deep.equal(old);
  });

  it("leaves out journals that are open, and those that a correction of the clock names", async () => {
    const { log } = sealed;
    await log.openJournal("open");
    await log.serve("open", "k1", [5]);
    await log.close("open");
    const journals = [{ journal: "old-2", from: 0, through: 1 }];
    await log.append("log", "ClockCorrected", { until: log.now(), journals });
    expect((await archive(createMemoryFile())).journals).to.deep.equal(["old-1", "old-3"]);
  });

  it("takes a limited number, the oldest first, and the others later", async () => {
    const [first, second] = [createMemoryFile(), createMemoryFile()];
    expect(await archive(first, { max: 2 })).to.deep.include({ journals: ["old-1", "old-2"], remaining: 1 });
    const rest = await archive(second, { max: 2 });
    expect(rest).to.deep.include({ journals: ["old-3"], remaining: 0 });
    const removed = withoutJournals(store, old);
    const files = [first, second].map(({ content }) => archiveFile(content));
    expect((await verifyLog(removed, { keys, archives: files })).missingArchives).to.deep.equal([]);
    const missingArchives = [{ file: rest.file, journals: 1 }];
    expect((await verifyLog(removed, { keys, archives: files.slice(0, 1) })).missingArchives).to.deep.equal(
      missingArchives,
    );
  });

  it("is not recorded unless its file is complete, and can be repeated", async () => {
    for (const step of ["write", "publish"] as const) {
      await rejection(archive(createMemoryFile(step)));
      expect(await archiveEvents(), step).to.deep.equal([]);
    }
    const damaged = createMemoryFile();
    const file = { ...damaged, read: () => archiveFile(damaged.content.subarray(0, 100)).open() };
    expect(await rejection(archive(file as MemoryFile))).to.be.instanceOf(NotGenuine);
    expect(await archiveEvents()).to.deep.equal([]);
    await archive(createMemoryFile());
    expect(await archiveEvents()).to.have.length(1);
  });

  it("has a complete file if it was recorded without a response", async () => {
    const lost: EventStore = {
      ...store,
      append: async (...append) => {
        await store.append(...append);
        throw new EventStoreUnavailable("the response is lost");
      },
    };
    const file = createMemoryFile();
    const interrupted = archiving(sealed, lost, later).archive({ before: month, file }, { actor: "cli" });
    expect(await rejection(interrupted)).to.be.instanceOf(Unavailable);
    expect(file.isPublished).to.equal(true);
    expect(await rejection(archive(createMemoryFile()))).to.be.instanceOf(Invalid);
    const archives = [archiveFile(file.content)];
    await sealed.seals.seal({ actor: "system" });
    expect((await verifyLog(withoutJournals(store, old), { keys, archives })).missingArchives).to.deep.equal(
      [],
    );
  });

  it("knows its own event if the append was repeated because its response was lost", async () => {
    const lost: EventStore = {
      ...store,
      append: async (stream, ...append) => {
        await store.append(stream, ...append);
        throw new WrongExpectedRevision(stream, 0, 1);
      },
    };
    const file = createMemoryFile();
    const { file: digest } = await archiving(sealed, lost, later).archive(
      { before: month, file },
      { actor: "cli" },
    );
    expect((await archiveEvents()).map(({ data }) => (data as JournalsArchived).file)).to.deep.equal([
      digest,
    ]);
  });

  it("may be recorded while the log is verified", async () => {
    const [begun, recorded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const waiting: EventStore = {
      ...store,
      async *subscribe(options) {
        begun.resolve();
        await recorded.promise;
        yield* store.subscribe(options);
      },
    };
    const file = createMemoryFile();
    let verified: ReturnType<typeof verifyLog> | undefined;
    const publish = async (): Promise<void> => {
      verified = verifyLog(waiting, { keys });
      await begun.promise;
      await file.publish();
    };
    await archive({ ...file, publish });
    recorded.resolve();
    expect(await verified).to.deep.include({ missingArchives: [], seals: 2, unsealed: 0 });
  });

  it("is recorded once if two commands write the same file at the same time", async () => {
    const written = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const archives = written.map(async ({ resolve }) => {
      const file = createMemoryFile();
      const publish = async (): Promise<void> => {
        resolve();
        await Promise.all(written.map(({ promise }) => promise));
        await file.publish();
      };
      const { file: digest } = await archive({ ...file, publish });
      return digest;
    });
    const digests = await Promise.all(archives);
    const recorded = (await archiveEvents()).map(({ data }) => (data as JournalsArchived).file);
    expect(recorded).to.have.length(1);
    expect(digests).to.deep.equal([...recorded, ...recorded]);
    await verifyLog(store, { keys });
  });

  it("is not recorded if another archive has one of its journals meanwhile", async () => {
    const file = createMemoryFile();
    const publish = async (): Promise<void> => {
      await file.publish();
      const other = { before: month, file: createMemoryFile() };
      await archiving(sealed, store, later, { maxJournals: 1 }).archive(other, { actor: "cli" });
    };
    expect(String(await rejection(archive({ ...file, publish })))).to.match(
      /another archive has journal old-/,
    );
    expect(await archiveEvents()).to.have.length(1);
  });

  it("is recorded once if another command adopts its file meanwhile, and both succeed", async () => {
    const file = createMemoryFile();
    const publish = async (): Promise<void> => {
      await file.publish();
      const adopted = await archiving(sealed, store, later).adopt({ before: month, file }, { actor: "cli" });
      expect(adopted?.journals).to.deep.equal(old);
    };
    expect((await archive({ ...file, publish })).journals).to.deep.equal(old);
    expect(await archiveEvents()).to.have.length(1);
  });

  it("is adopted only with a month that all of its events precede, also after it was recorded", async () => {
    const file = createMemoryFile();
    await archive(file);
    const adopt = (before: string) =>
      archiving(sealed, store, later).adopt({ before, file }, { actor: "cli" });
    for (const before of [start.slice(0, 7), "2020-01", "none"])
      expect(await rejection(adopt(before)), before).to.be.instanceOf(Invalid);
    expect(await adopt(month)).to.equal(undefined);
  });

  it("makes any of its journals dispensable, with the same result", async () => {
    const file = createMemoryFile();
    const { file: digest } = await archive(file);
    const archives = [archiveFile(file.content)];
    const complete = await verifyLog(store, { keys });
    for (let subset = 1; subset < 2 ** old.length; subset++) {
      const journals = old.filter((_, index) => (subset >> index) % 2 === 1);
      const removed = withoutJournals(store, journals);
      expect(await verifyLog(removed, { keys, archives }), journals.join()).to.deep.equal(complete);
      const { missingArchives, sealed } = await verifyLog(removed, { keys });
      expect({ missingArchives, sealed }, journals.join()).to.deep.equal({
        missingArchives: [{ file: digest, journals: journals.length }],
        sealed: complete.sealed,
      });
    }
  });

  it("leaves accounts and quotas of missing journals verified as far as they go", async () => {
    await archive(createMemoryFile());
    const changed = (stream: string, type: string, change: object): EventStore => {
      const removed = withoutJournals(store, old);
      return {
        ...removed,
        async *subscribe(options) {
          for await (const batch of removed.subscribe(options)) {
            const events = batch.events.map((event) =>
              event.stream === stream && event.type === type
                ? { ...event, data: { ...event.data, ...change } }
                : event,
            );
            yield { ...batch, events };
          }
        },
      };
    };
    for (const [stream, type, change] of [
      ["usage-k1-2026-01", "UsagePosted", { characters: 1 }],
      ["usage-k1-2026-01", "UsagePosted", { cells: [] }],
      ["quota-k2-2026-01", "CharactersReserved", { total: 91 }],
      ["quota-k2-2026-01", "CharactersReserved", { total: 101 }],
      ["journals", "JournalsArchived", { journals: ["old-1", "old-2"] }],
    ] as const) {
      const message = await refusal(verifyLog(changed(stream, type, change), { keys }));
      expect(message, `${stream} ${type} ${JSON.stringify(change)}`).not.to.equal("");
    }
  });

  it("is the only excuse for missing journals", async () => {
    await sealed.seals.seal({ actor: "system" });
    const removed = withoutJournals(store, old);
    expect(await refusal(verifyLog(removed, { keys }))).to.match(/of which 0 were charged$/);
  });

  it("excuses nothing until a seal covers its event", async () => {
    const file = createMemoryFile();
    const { seals } = sealed;
    let count = 0;
    const seal: typeof seals.seal = (metadata) =>
      ++count === 1 ? seals.seal(metadata) : Promise.reject(new Error("killed"));
    const interrupted = archiving({ seals: { ...seals, seal } }, store, later);
    await rejection(interrupted.archive({ before: month, file }, { actor: "cli" }));
    expect(await archiveEvents()).to.have.length(1);
    const removed = withoutJournals(store, old);
    expect(await refusal(verifyLog(removed, { keys }))).to.match(/of which 0 were charged$/);
    const archives = [archiveFile(file.content)];
    expect(await refusal(verifyLog(removed, { keys, archives }))).to.include("no sealed archive has");
    await seals.seal({ actor: "system" });
    expect((await verifyLog(removed, { keys })).missingArchives).to.have.length(1);
  });

  it("is not genuine if it was forged, although a seal covers the event", async () => {
    const other = createNoteSigner("voxledger/test", Buffer.alloc(32, 9));
    const text = ({ file, root }: JournalsArchived) => `voxledger/test archive\n${file}\n${root}\n`;
    const unsigned = /has a note of another archive$/;
    const wrong = /is not signed with a given key: the signature is wrong$/;
    const totals = /does not have the totals that seals and postings give$/;
    const forgeries: readonly [(data: JournalsArchived) => Partial<JournalsArchived>, RegExp][] = [
      [() => ({ note: "none" }), unsigned],
      [
        (data) => ({ note: other.sign(text(data)) }),
        /is not signed with a given key, nor with one that a given key endorsed$/,
      ],
      [(data) => ({ note: withOtherSignature(signer.sign(text(data))) }), wrong],
      [() => ({ file: "0".repeat(64) }), unsigned],
      [(data) => ({ note: signer.sign(text(data).replace(" archive", " export")) }), unsigned],
      [() => ({ journals: ["old-1"] }), /^journal-old-2 revision 0 is missing/],
      [() => ({ journals: [...old].reverse() }), /does not have the root that the seals give$/],
      [() => ({ journals: [...old, "none"] }), /archives journal none, which is open or not sealed$/],
      [() => ({ journals: [...old, "old-1"] }), /archives journal old-1 again$/],
      [() => ({ events: 1 }), totals],
      [() => ({ days: [] }), totals],
    ];
    for (const [forge, message] of forgeries) {
      const opened = await openTemporaryStore(clock);
      try {
        const forging = sealing(opened.store, start);
        await writeOldJournals(forging);
        const data = await interceptedEvent(forging, opened.store);
        await forging.log.append("journals", "JournalsArchived", { ...data, ...forge(data) });
        await forging.seals.seal({ actor: "system" });
        expect(await refusal(verifyLog(withoutJournals(opened.store, old), { keys }))).to.match(message);
      } finally {
        await opened.remove();
      }
    }
  });

  /** The event that a command would have appended, had it not been killed. */
  const interceptedEvent = async (
    forging: ReturnType<typeof sealing>,
    original: EventStore,
  ): Promise<JournalsArchived> => {
    let data: object | undefined;
    const killed: EventStore = {
      ...original,
      append: async (_, [event]) => {
        data = event?.data;
        throw new Error("killed");
      },
    };
    await rejection(
      archiving(forging, killed, later).archive(
        { before: month, file: createMemoryFile() },
        { actor: "cli" },
      ),
    );
    return data as JournalsArchived;
  };
});
