import { joinIntoChunks } from "../../async/chunks.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import { createExportWriter } from "../../domain/ledger/proof/export-lines.ts";
import type { NoteSigner } from "../../domain/ledger/seals/note-signer.ts";
import { provenEvent } from "../../domain/ledger/seals/proven-event.ts";
import { sealsStream } from "../../domain/ledger/seals/seal.ts";
import { type EventMetadata, type EventStore, readEvent } from "../../eventstore/event-store.ts";
import { toUnavailable } from "../../eventstore/store-error.ts";
import { DeletedMeanwhile, readMissingJournals } from "../journal/archived-journals.ts";
import { readSealedEvents } from "./sealed-log.ts";
import type { Seals } from "./seals.ts";

/**
 * Seals the log. Yields the text of an export of everything that the seal covers, and of the seal,
 * in chunks of complete lines. Deleted journals are left out, also where a server still has some of
 * their events.
 * @throws as `Seals.seal` does
 * @throws {DeletedMeanwhile} if archived journals were deleted since the beginning
 * @throws {Unavailable} when the event store cannot be read
 */
export type ExportAudit = (metadata: EventMetadata) => AsyncIterable<string>;

interface AuditExportOptions {
  readonly store: EventStore;
  readonly seals: Seals;
  readonly signer: NoteSigner;
}

export const createAuditExport =
  (options: AuditExportOptions): ExportAudit =>
  (metadata) =>
    joinIntoChunks(exportLines(options, metadata));

async function* exportLines(
  { store, seals, signer }: AuditExportOptions,
  metadata: EventMetadata,
): AsyncGenerator<string> {
  const { revision, data } = await seals.seal(metadata);
  const writer = createExportWriter(signer);
  try {
    const missing = await readMissingJournals(store);
    const leftOut = new Set([...missing].map(journalStream));
    for await (const event of readSealedEvents(store, { journals: true })) {
      if (event.position > data.position) break;
      if (leftOut.has(event.stream)) continue;
      yield writer.add(provenEvent(event));
    }
    const seal = await readEvent(store, sealsStream, { fromInclusive: revision });
    if (seal) yield writer.add(provenEvent(seal));
    if ((await readMissingJournals(store)).difference(missing).size > 0)
      throw new DeletedMeanwhile(
        "archived journals were deleted while the log was exported: export it again",
      );
  } catch (error) {
    throw toUnavailable(error);
  }
  yield writer.end();
}
