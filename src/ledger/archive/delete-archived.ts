import pLimit from "p-limit";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import { NotGenuine } from "../../domain/ledger/proof/not-genuine.ts";
import type { JournalHead } from "../../domain/ledger/seals/seal.ts";
import type { EventMetadata, EventStore } from "../../eventstore/event-store.ts";
import { toUnavailable } from "../../eventstore/store-error.ts";
import { readCorrections } from "../journal/clock-corrections.ts";
import { readJournalEnd } from "../journal/journal-reader.ts";
import { listOpenJournals } from "../journal/journal-registry.ts";
import { verifyLog } from "../proof/audit-verify.ts";
import type { ArchiveOptions, ExistingArchive } from "./archive-journals.ts";
import { readWritten, requireSealedEnds } from "./read-written.ts";
import { readRecordedArchive, sealedHeadsOf } from "./recorded-archive.ts";

interface DeleteRequest {
  /** The file of a recorded archive. */
  readonly file: ExistingArchive;
  /** The file's name, for messages. */
  readonly path: string;
}

export interface DeletedJournals {
  /** SHA-256 (hex) of the file. */
  readonly file: string;
  /** The number of journals whose events are only in the file now. */
  readonly deleted: number;
  /** The number of journals that stay, because a correction of the clock names them. */
  readonly kept: number;
}

/**
 * Deletes the events of archived journals from the log, except their last ones: a process that was
 * frozen since finds there that its journal is closed. Verifies the file and the log first. If it
 * is interrupted, it can be repeated.
 * @throws {NotGenuine} if the log names no archive with this file, or the log is not genuine
 * @throws as `Seals.seal` does, and if the archive is not sealed yet: nothing was deleted
 * @throws {Unavailable}
 */
export type DeleteArchived = (request: DeleteRequest, metadata: EventMetadata) => Promise<DeletedJournals>;

const maxConcurrent = 8;

interface DeleteOptions extends Pick<ArchiveOptions, "store" | "seals" | "keys"> {
  /** Makes earlier versions refuse the log: they would take the journals for lost. */
  readonly raiseFormat: () => Promise<void>;
}

export const createDeleteArchived =
  ({ store, seals, keys, raiseFormat }: DeleteOptions): DeleteArchived =>
  async ({ file, path }, metadata) => {
    try {
      const written = await readWritten(file, keys);
      const { data: seal } = await seals.seal(metadata);
      const archive = await readRecordedArchive(store, written.digest, keys);
      if (archive.position > seal.position)
        throw new Error("no seal covers the archive yet, so nothing was deleted: run the command again");
      const heads = await sealedHeadsOf(store, archive);
      requireSealedEnds(written, heads);
      await verifyLog(store, { keys, archives: [{ path, open: () => file.read() }] }).catch(explain);
      const corrected = await correctedJournals(store);
      const deletable = heads.filter(({ journal }) => !corrected.has(journal));
      const open = new Set(await listOpenJournals(store));
      // All are checked before the first one is deleted.
      const limit = pLimit(maxConcurrent);
      const lengths = await limit.map(deletable, (head) => lastEvents(store, head, open));
      await raiseFormat();
      await limit.map(deletable, ({ journal }, index) =>
        store.setRetention(journalStream(journal), { maxCount: lengths[index] as number }),
      );
      return { file: written.digest, deleted: deletable.length, kept: heads.length - deletable.length };
    } catch (error) {
      throw toUnavailable(error);
    }
  };

/** What is wrong in the log would be harder to find without its journals. */
const explain = (error: unknown): never => {
  if (!(error instanceof NotGenuine)) throw error;
  throw new NotGenuine(`nothing was deleted, because the log is not genuine: ${error.message}`);
};

/** Reports read the events that a correction of the clock names. */
const correctedJournals = async (store: EventStore): Promise<ReadonlySet<string>> => {
  const corrections = await readCorrections(store);
  return new Set(corrections.flatMap(({ data }) => data.journals.map(({ journal }) => journal)));
};

/** The number of events from `JournalClosed` on. */
const lastEvents = async (
  store: EventStore,
  { journal, revision, digest }: JournalHead,
  open: ReadonlySet<string>,
): Promise<number> => {
  const end = await readJournalEnd(store, journal);
  const isAsArchived = end?.revision === revision && end.digest === digest && !open.has(journal);
  if (!isAsArchived || end.closedRevision === undefined)
    throw new NotGenuine(
      `${journalStream(journal)} has changed since it was archived: run voxledger audit verify`,
    );
  return revision - end.closedRevision + 1;
};
