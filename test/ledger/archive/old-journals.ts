import { Readable } from "node:stream";
import { thresholdId } from "../../../src/domain/ledger/accounts/usage-event-ids.ts";
import type { EventStore, RecordedEvent } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import {
  type ArchiveJournals,
  type ArchiveOptions,
  createArchiveJournals,
  type NewArchive,
} from "../../../src/ledger/archive/archive-journals.ts";
import { readJournalEnd } from "../../../src/ledger/journal/journal-reader.ts";
import type { ArchiveFile } from "../../../src/ledger/proof/archive-files.ts";
import { collect } from "../../support/collect.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { createJournalledLog } from "../proof/journalled-log.ts";
import { inChunks, keys, type sealing, signer } from "../proof/sealed-store.ts";

/** The clocks of the stores stand still at this time. */
export const start = "2026-01-05T10:00:00.000Z";
export const clock = (): number => Date.parse(start);

/** An event store that one test uses. */
export interface OpenedStore {
  readonly store: EventStore;
  /** Removes hidden events from the files. */
  scavenge(): void;
  close(): Promise<void>;
}

export const stores: Readonly<Record<string, () => Promise<OpenedStore>>> = {
  SQLite: async () => {
    const { store, remove } = await openTemporaryStore(clock);
    return { store, scavenge: () => {}, close: remove };
  },
  EventStoreDB: async () => {
    const node = await startEventStoreDBNode({ clock });
    const store = await openEventStoreDB({ url: node.url });
    const close = async (): Promise<void> => {
      await store.close();
      await node.close();
    };
    return { store, scavenge: () => node.scavenge(), close };
  },
};

/** A file in memory. `failsAt`: the step that fails. */
export interface MemoryFile extends NewArchive {
  readonly content: Buffer;
  isPublished: boolean;
}

export const createMemoryFile = (failsAt?: "write" | "publish"): MemoryFile => {
  const chunks: string[] = [];
  const file: MemoryFile = {
    isPublished: false,
    get content() {
      return Buffer.from(chunks.join(""));
    },
    write: async (text) => {
      if (failsAt === "write") throw new Error("the disk is full");
      chunks.push(...(await collect(text)));
    },
    read: () => inChunks(file.content),
    publish: async () => {
      if (failsAt === "publish") throw new Error("the file exists");
      file.isPublished = true;
    },
  };
  return file;
};

/** The content as a file for verifications. */
export const archiveFile = (content: Buffer, path = "archive.ndjson"): ArchiveFile => ({
  path,
  open: () => Readable.from([content]),
});

/** The seals of the store are those of the tests. `now`: the time of the command. */
export const archiving = (
  { seals }: Pick<ReturnType<typeof sealing>, "seals">,
  store: EventStore,
  now: number,
  options: Partial<ArchiveOptions> = {},
): ArchiveJournals => createArchiveJournals({ store, seals, signer, keys, clock: () => now, ...options });

/** A service is in use: without it, commands take the time of the last journal for the present. */
export const openNewJournal = (store: EventStore): Promise<void> =>
  createJournalledLog(store, new Date().toISOString()).openJournal("new");

/**
 * Writes two journals that overlap, with a void, and a third one. All are closed and posted. `k2`
 * has a quota, and crosses a threshold before its servings are posted.
 */
export const writeOldJournals = async ({ log, seals, post }: ReturnType<typeof sealing>): Promise<void> => {
  const plan = (monthlyCharacters: number | null) => ({
    tier: "free",
    requestsPerMinute: 100,
    monthlyCharacters,
  });
  await log.append("key-k1", "KeyIssued", { apiKey: "k1", websiteId: "w1", plan: plan(null) });
  await log.append("key-k2", "KeyIssued", { apiKey: "k2", websiteId: "w1", plan: plan(100) });
  const monthly = log.now().slice(0, 7);
  const quota = `quota-k2-${monthly}`;
  await log.openJournal("old-2");
  await log.openJournal("old-1");
  await log.append(quota, "CharactersReserved", { journal: "old-1", total: 90 });
  await log.serve("old-2", "k1", [12, 30]);
  await log.serve("old-1", "k2", [60, 25]);
  const crossed = { threshold: 50, characters: 85, quota: 100 };
  const id = thresholdId("k2", monthly, 50);
  await log.append(`usage-k2-${monthly}`, "QuotaThresholdCrossed", crossed, id);
  await seals.seal({ actor: "system" });
  const voided = { apiKey: "k2", requestId: "r", characters: 25, hash: "5", engine: "g1" };
  const voice = "US English Female";
  const servings = [{ ...voided, voice, servedAt: log.now(), reason: "unanswered" }];
  await log.extend("old-1", "ServingsVoided", { servings });
  await log.serve("old-2", "k1", [7]);
  for (const [journal, closed] of [
    ["old-1", 2],
    ["old-2", 2],
  ] as const) {
    await log.close(journal);
    await post(journal, closed);
    await log.extend(journal, "JournalPosted", { through: closed });
    if (journal === "old-1") await log.append(quota, "ReservationSettled", { journal: "old-1", total: 60 });
    await log.retire(journal);
  }
  await log.openJournal("old-3");
  await log.serve("old-3", "k1", [5]);
  await log.close("old-3");
  await post("old-3", 1);
  await log.retire("old-3");
};

/** The store without some journals, as after their removal. */
export const withoutJournals = (store: EventStore, journals: readonly string[]): EventStore => {
  const streams = new Set(journals.map((journal) => `journal-${journal}`));
  const isKept = ({ stream }: RecordedEvent): boolean => !streams.has(stream);
  return {
    ...store,
    async *readStream(stream, options) {
      if (!streams.has(stream)) yield* store.readStream(stream, options);
    },
    async *subscribe(options) {
      for await (const batch of store.subscribe(options))
        yield { ...batch, events: batch.events.filter(isKept) };
    },
  };
};

/** Deletes the events of journals before `JournalClosed`. */
export const deleteJournals = async (store: EventStore, journals: readonly string[]): Promise<void> => {
  for (const journal of journals) {
    const end = await readJournalEnd(store, journal);
    if (end?.closedRevision === undefined) throw new Error(`the journal ${journal} is open`);
    await store.setRetention(`journal-${journal}`, { maxCount: end.revision - end.closedRevision + 1 });
  }
};
