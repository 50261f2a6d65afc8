import pLimit from "p-limit";
import { isOfType } from "../../domain/event-shapes.ts";
import type { JournalsArchivedEvent } from "../../domain/ledger/archive/journals-archived.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../domain/ledger/journal/journal-registry.ts";
import { type EventStore, type RecordedEvent, readEvent } from "../../eventstore/event-store.ts";

type Readable = Pick<EventStore, "readStream">;

/** An event that names an archive. Anybody may have appended it. */
export type RecordedArchive = RecordedEvent & JournalsArchivedEvent;

/**
 * The archives that the log names, in order.
 * @throws {EventStoreUnavailable}
 */
export const readArchives = async (store: Readable): Promise<RecordedArchive[]> => {
  const archives: RecordedArchive[] = [];
  for await (const event of store.readStream(journalRegistryStream))
    if (isOfType<JournalsArchivedEvent, RecordedEvent>(event, ["JournalsArchived"])) archives.push(event);
  return archives;
};

const maxConcurrentReads = 8;

/**
 * Returns those of the journals whose first event is no longer in the log.
 * @throws {EventStoreUnavailable}
 */
export const findMissing = async (
  store: Readable,
  journals: readonly string[],
): Promise<ReadonlySet<string>> => {
  const missing = new Set<string>();
  await pLimit(maxConcurrentReads).map(journals, async (journal) => {
    const first = await readEvent(store, journalStream(journal));
    if (first?.revision !== 0) missing.add(journal);
  });
  return missing;
};

/**
 * The archived journals whose first event is no longer in the log. A deletion may be in progress.
 * @throws {EventStoreUnavailable}
 */
export const readMissingJournals = async (store: Readable): Promise<ReadonlySet<string>> =>
  await findMissing(
    store,
    (await readArchives(store)).flatMap(({ data }) => data.journals),
  );

/** Archived journals were deleted while the log was read. */
export class DeletedMeanwhile extends Error {
  override readonly name = "DeletedMeanwhile";
}
