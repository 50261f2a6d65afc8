import { expect } from "chai";
import { obtainEventLogId, raiseLogFormat, requireLogFormat } from "../../../src/application/log-format.ts";
import type { JournalsArchived } from "../../../src/domain/ledger/archive/journals-archived.ts";
import { NotGenuine } from "../../../src/domain/ledger/proof/not-genuine.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { createUsageReader } from "../../../src/ledger/accounts/usage-reader.ts";
import { createDeleteArchived } from "../../../src/ledger/archive/delete-archived.ts";
import { DeletedMeanwhile } from "../../../src/ledger/journal/archived-journals.ts";
import { closeJournal } from "../../../src/ledger/journal/close-journal.ts";
import { readJournalEnd } from "../../../src/ledger/journal/journal-reader.ts";
import { verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { createChargeReader } from "../../../src/ledger/reports/charges-between.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";
import { keys, sealing, verify } from "../proof/sealed-store.ts";
import {
  archiveFile,
  archiving,
  clock,
  createMemoryFile,
  type MemoryFile,
  type OpenedStore,
  start,
  stores,
  writeOldJournals,
} from "./old-journals.ts";

const later = clock() + 200 * 24 * 60 * 60_000;
const before = new Date(later).toISOString().slice(0, 7);
const old = ["old-1", "old-2", "old-3"];
const cli = { actor: "cli" };

/** The store of a process that is killed before or after its write with this number. */
const killedAt = (store: EventStore, write: number, isAfter: boolean): EventStore => {
  let writes = 0;
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    const current = writes++;
    if (current > write || (current === write && !isAfter)) throw new Error("killed");
    const result = await work();
    if (current === write) throw new Error("killed");
    return result;
  };
  return {
    ...store,
    append: (...append) => run(() => store.append(...append)),
    setRetention: (...retention) => run(() => store.setRetention(...retention)),
  };
};

for (const [name, open] of Object.entries(stores)) {
  describe(`the deletion of archived journals on ${name}`, () => {
    let opened: OpenedStore;
    let store: EventStore;
    let sealed: ReturnType<typeof sealing>;
    let file: MemoryFile;

    beforeEach(() => begin());
    afterEach(() => opened.close());

    const begin = async (): Promise<void> => {
      opened = await open();
      ({ store } = opened);
      sealed = sealing(store, start);
      await obtainEventLogId(createCommandHandler({ store }), "log-1", start);
      await writeOldJournals(sealed);
      file = createMemoryFile();
    };
    const reopen = async (): Promise<void> => {
      await opened.close();
      await begin();
    };

    const archive = (target: EventStore = store) =>
      archiving(sealing(target, start), target, later).archive({ before, file }, cli);
    const adopt = (target: EventStore = store) =>
      archiving(sealing(target, start), target, later).adopt({ before, file }, cli);
    const remove = (target: EventStore = store, from: Pick<MemoryFile, "read"> = file) =>
      createDeleteArchived({
        ...{ store: target, keys, seals: sealing(target, start).seals },
        raiseFormat: () => raiseLogFormat(createCommandHandler({ store: target }), start),
      })({ file: from, path: "archive.ndjson" }, cli);
    const archives = () => [archiveFile(file.content)];
    const revisionsOf = async (journal: string) =>
      (await collect(store.readStream(`journal-${journal}`))).map(({ revision }) => revision);
    const formats = async () =>
      (await collect(store.readStream("log")))
        .filter(({ type }) => type === "LogFormatRecorded")
        .map(({ data }) => (data as { readonly format: number }).format);

    it("leaves the end of each journal, after which the log needs a version that knows it", async () => {
      await archive();
      const ends = await Promise.all(old.map((journal) => readJournalEnd(store, journal)));
      const { file: digest } = (await eventOf()) ?? {};
      expect(await remove()).to.deep.equal({ file: digest, deleted: 3, kept: 0 });
      expect(await Promise.all(old.map((journal) => readJournalEnd(store, journal)))).to.deep.equal(ends);
      expect(await Promise.all(old.map(revisionsOf))).to.deep.equal([[2, 3], [2, 3], [1]]);
      expect(await formats()).to.deep.equal([2, 3]);
      await requireLogFormat(store);
      expect(await remove()).to.deep.equal({ file: digest, deleted: 3, kept: 0 });
      expect(await formats()).to.deep.equal([2, 3]);
    });

    const eventOf = async () =>
      (await collect(store.readStream("journals"))).find(({ type }) => type === "JournalsArchived")
        ?.data as JournalsArchived;

    it("is verified with the file as before, and without it with a remark", async () => {
      await archive();
      const complete = await verifyLog(store, { keys });
      await remove();
      for (const step of ["deleted", "scavenged"]) {
        const { events, missingArchives, remarks } = await verifyLog(store, { keys, archives: archives() });
        expect({ missingArchives, remarks }, step).to.deep.equal({
          missingArchives: [],
          remarks: complete.remarks,
        });
        expect(events, step).to.be.greaterThan(complete.events);
        const without = await verifyLog(store, { keys });
        expect(without.missingArchives, step).to.have.length(1);
        const exported = await sealed.exported();
        expect((await verify(exported)).missingArchives, step).to.have.length(1);
        expect((await verify(exported, { keys, archives: archives() })).missingArchives).to.deep.equal([]);
        opened.scavenge();
      }
    });

    it("leaves usage, balances and charges by day exact", async () => {
      const month = start.slice(0, 7);
      const dayMs = 24 * 60 * 60_000;
      const midnight = Date.parse(start.slice(0, 10));
      const figures = async () => {
        const reader = createUsageReader({ store });
        const charges: object[] = [];
        await createChargeReader({ store })(
          {
            apiKeys: ["k1", "k2"],
            fromInclusive: midnight,
            toExclusive: midnight + dayMs,
            asOf: later,
            byDay: true,
          },
          (charge) => charges.push(charge),
        );
        return JSON.stringify({
          k1: await reader.usageOf({ apiKey: "k1", month }),
          k2: await reader.usageOf({ apiKey: "k2", month }),
          counts: [...(await reader.countsOf(["k1", "k2"], month)).counts],
          charges: charges.map((charge) => JSON.stringify(charge)).sort(),
        });
      };
      const complete = await figures();
      await archive();
      await remove();
      opened.scavenge();
      expect(await figures()).to.equal(complete);
    });

    it("continues after a kill at any moment", async function () {
      this.timeout(120_000);
      let kills = 0;
      for (let write = 0; ; write++) {
        for (const isAfter of [false, true]) {
          if (kills > 0) await reopen();
          const wasKilled = await attempt(killedAt(store, write, isAfter));
          if (wasKilled) kills += 1;
          await requireConsistent(`${write} ${isAfter}`);
          expect(await attempt(store)).to.equal(false);
          expect(await Promise.all(old.map(revisionsOf))).to.deep.equal([[2, 3], [2, 3], [1]]);
          expect(await formats()).to.deep.equal([2, 3]);
          const { missingArchives } = await verifyLog(store, { keys, archives: archives() });
          expect(missingArchives).to.deep.equal([]);
          const registry = await collect(store.readStream("journals"));
          expect(registry.filter(({ type }) => type === "JournalsArchived")).to.have.length(1);
          if (!wasKilled) {
            // The seals, the archive, the format and the journals.
            expect(kills).to.equal(2 * write);
            expect(write).to.be.at.least(6);
            return;
          }
        }
      }
    });

    /** What the command does with the file. Resolves with true if it was killed. */
    const attempt = async (target: EventStore): Promise<boolean> => {
      try {
        if (file.isPublished) {
          await adopt(target);
        } else {
          file = createMemoryFile();
          await archive(target);
        }
        await remove(target);
        return false;
      } catch (error) {
        if (!String(error).includes("killed") && !String((error as Error).cause).includes("killed"))
          throw error;
        return true;
      }
    };

    /** Nothing is deleted before a seal covers the archive. */
    const requireConsistent = async (message: string): Promise<void> => {
      const given = { keys, archives: archives() };
      const error = await verifyLog(store, given).then(
        ({ missingArchives }) => expect(missingArchives, message).to.deep.equal([]) && undefined,
        (thrown: Error) => thrown,
      );
      if (!error) return;
      expect(error.message, message).to.match(/which no sealed archive has$|^there is no seal$|cut off/);
      expect(await revisionsOf("old-3"), message).to.deep.equal([0, 1]);
    };

    it("deletes nothing unless the file, the archive's note and the log are as they should be", async () => {
      const unchanged = async (): Promise<void> => {
        expect(await Promise.all(old.map(revisionsOf))).to.deep.equal([
          [0, 1, 2, 3],
          [0, 1, 2, 3],
          [0, 1],
        ]);
        expect(await formats()).to.deep.equal([2]);
      };
      await archive();
      const { content } = file;
      const cut = { read: () => archiveFile(content.subarray(0, content.length - 300)).open() };
      expect(await rejection(remove(store, cut))).to.be.instanceOf(NotGenuine);
      const text = content.toString().replace('"characters"', '"charakters"');
      const changed = { read: () => archiveFile(Buffer.from(text)).open() };
      expect(await rejection(remove(store, changed))).to.be.instanceOf(NotGenuine);
      const exported = await sealed.exported();
      const other = { read: () => archiveFile(exported).open() };
      expect(String(await rejection(remove(store, other)))).to.include("it is no archive");
      await unchanged();
      const unsealed: EventStore = {
        ...store,
        readStream: (stream, options) =>
          stream === "seals" && options?.direction !== "backwards"
            ? store.readStream(stream, { ...options, limit: 1 })
            : store.readStream(stream, options),
      };
      expect(await rejection(remove(unsealed))).to.be.instanceOf(Error);
      await unchanged();
      await store.append(
        "journal-old-3",
        [{ id: crypto.randomUUID(), type: "Note", data: {}, metadata: {} }],
        "any",
      );
      expect(await rejection(remove())).to.be.instanceOf(NotGenuine);
      expect(await formats()).to.deep.equal([2]);
    });

    it("lets a verification and an export that run meanwhile end with what to do, or succeed", async () => {
      await archive();
      await sealed.seals.seal(cli);
      /** Deletes the journals while the log is read. */
      const deleting = (): EventStore => {
        let isBegun = false;
        return {
          ...store,
          async *subscribe(options) {
            const hasJournals = options?.prefixes?.includes("journal-") ?? true;
            if (!isBegun && hasJournals) {
              isBegun = true;
              await remove();
              opened.scavenge();
            }
            yield* store.subscribe(options);
          },
        };
      };
      const verified = await rejection(verifyLog(deleting(), { keys }));
      expect(verified).to.be.instanceOf(DeletedMeanwhile);
      await reopen();
      await archive();
      expect((await verifyLog(deleting(), { keys, archives: archives() })).missingArchives).to.deep.equal([]);
      await reopen();
      await archive();
      const exported = await rejection(sealing(deleting(), start).exported());
      expect(exported).to.be.instanceOf(DeletedMeanwhile);
    });

    it("keeps journals that a correction of the clock names since", async () => {
      await archive();
      const journals = [{ journal: "old-2", from: 0, through: 1 }];
      await sealed.log.append("log", "ClockCorrected", { until: sealed.log.now(), journals });
      expect(await remove()).to.deep.include({ deleted: 2, kept: 1 });
      expect(await revisionsOf("old-2")).to.deep.equal([0, 1, 2, 3]);
    });

    it("lets a process that was frozen find that its journal is closed", async () => {
      await archive();
      await remove();
      const end = await readJournalEnd(store, "old-1");
      expect(end).to.deep.include({ closed: true, closedRevision: 2 });
      expect(await closeJournal(store, clock, "old-1", "shutdown")).to.equal(2);
    });

    it("is possible no more for a lost file, which can be written again before", async () => {
      await archive();
      const { file: digest } = await eventOf();
      const again = createMemoryFile();
      const archiveAgain = archiving(sealed, store, later);
      await archiveAgain.writeAgain(digest, again);
      expect(again.isPublished).to.equal(true);
      expect(again.content.equals(file.content)).to.equal(true);
      expect(await rejection(archiveAgain.writeAgain("0".repeat(64), createMemoryFile()))).to.be.instanceOf(
        NotGenuine,
      );
      await remove(store, again);
      const none = createMemoryFile();
      expect(String(await rejection(archiveAgain.writeAgain(digest, none)))).to.match(
        /3 of the archive's 3 journals are no longer in the log/,
      );
      expect(none.isPublished).to.equal(false);
    });
  });
}
