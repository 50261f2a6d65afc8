import { isOfType } from "../../domain/event-shapes.ts";
import { canonicalJson } from "../../domain/ledger/journal/canonical.ts";
import type { PlannedArchive } from "../../domain/ledger/proof/archive-check.ts";
import { NotGenuine, nameOf } from "../../domain/ledger/proof/not-genuine.ts";
import { provenEvent } from "../../domain/ledger/seals/proven-event.ts";
import type { SealEvent } from "../../domain/ledger/seals/seal.ts";
import type {
  EventBatch,
  EventStore,
  RecordedEvent,
  SubscribeOptions,
} from "../../eventstore/event-store.ts";
import { isSelected } from "../../eventstore/subscriptions.ts";
import { cursorOf, mergeByPosition } from "../audit/event-cursor.ts";
import { readArchives } from "../journal/archived-journals.ts";
import { findArchives } from "../proof/archive-files.ts";
import { readLastSealEvent } from "../proof/sealed-log.ts";
import { type IndexedArchive, indexArchive, type SeekableArchive } from "./indexed-archive.ts";

/**
 * The log with the journals of these archives, whether it still has them or not: as before their
 * deletion. For reports that end with the log as it is: it adds nothing to what is appended later.
 * @throws {NotGenuine} for a file that no sealed archive has, and later if the log contradicts it
 * @throws {EventStoreUnavailable}
 */
export const withArchivedJournals = async (
  store: EventStore,
  files: readonly SeekableArchive[],
): Promise<EventStore> => {
  const archives: IndexedArchive[] = [];
  const found = await findArchives(files, await sealedArchives(store));
  for (const { file, archive } of found) archives.push(await indexArchive(file, archive));
  const archiveOf = (stream: string): IndexedArchive | undefined =>
    archives.find(({ streams }) => streams.has(stream));
  return {
    ...store,
    readStream: (stream, options = {}) =>
      archiveOf(stream)?.readStream(stream, options) ?? store.readStream(stream, options),
    eventAt: async (position) => {
      for (const archive of archives) {
        const event = await archive.eventAt(position);
        if (event) return event;
      }
      return await store.eventAt(position);
    },
    subscribe: (options = {}) => mergedBatches(store.subscribe(options), archives, options),
  };
};

/** Seals cover what precedes them: a later archive may be anybody's. */
const sealedArchives = async (store: EventStore): Promise<PlannedArchive[]> => {
  const seal = await readLastSealEvent(store);
  const sealedUpTo = seal && isOfType<SealEvent, RecordedEvent>(seal, ["Sealed"]) ? seal.data.position : -1;
  const archives = (await readArchives(store)).filter(({ position }) => position <= sealedUpTo);
  return archives.map(({ position, data: { file, journals } }) => ({ position, file, journals }));
};

/** Bounds the memory if the log has a long gap. */
const eventsPerBatch = 500;

async function* mergedBatches(
  batches: AsyncIterable<EventBatch>,
  archives: readonly IndexedArchive[],
  { fromExclusive = -1, prefixes = [], except }: SubscribeOptions,
): AsyncGenerator<EventBatch, void, undefined> {
  const isIncluded = (stream: string): boolean => isSelected(stream, { prefixes, except });
  const cursors = archives.map((archive) =>
    cursorOf<RecordedEvent>(undefined, () => archive.readAfter(fromExclusive, isIncluded)),
  );
  await Promise.all(cursors.map(({ advance }) => advance()));
  const archived = mergeByPosition(cursors);
  let next = (await archived.next()).value;
  try {
    for await (const { events, position, caughtUp } of batches) {
      const end = caughtUp ? Number.POSITIVE_INFINITY : position;
      let merged: RecordedEvent[] = [];
      for (const event of [...events, undefined]) {
        const isDue = ({ position }: RecordedEvent) => position <= (event?.position ?? end);
        while (next && isDue(next)) {
          if (next.position === event?.position) requireSame(next, event);
          else merged.push(next);
          next = (await archived.next()).value;
          const last = merged.at(-1);
          if (!last || merged.length < eventsPerBatch) continue;
          yield { events: merged, position: last.position, caughtUp: false };
          merged = [];
        }
        if (event) merged.push(event);
      }
      yield { events: merged, position, caughtUp };
    }
  } finally {
    await archived.return();
  }
}

const requireSame = (archived: RecordedEvent, event: RecordedEvent): void => {
  if (canonicalJson(provenEvent(archived)) !== canonicalJson(provenEvent(event)))
    throw new NotGenuine(`${nameOf(event)} differs from the archived event`);
};
