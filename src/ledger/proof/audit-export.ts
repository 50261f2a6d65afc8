import { journalStream } from "../../domain/ledger/journal/journal.ts";
import { createExportWriter } from "../../domain/ledger/proof/export-lines.ts";
import type { NoteSigner } from "../../domain/ledger/seals/note-signer.ts";
import { provenEvent } from "../../domain/ledger/seals/proven-event.ts";
import { sealsStream } from "../../domain/ledger/seals/seal.ts";
import { type EventMetadata, type EventStore, readEvent } from "../../eventstore/event-store.ts";
import { toUnavailable } from "../../eventstore/store-error.ts";
import { DeletedMeanwhile, readDeletedJournals } from "../journal/archived-journals.ts";
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

/** The number of characters per chunk. */
const chunkLength = 64 * 1024;

export const createAuditExport = ({
  store,
  seals,
  signer,
}: {
  readonly store: EventStore;
  readonly seals: Seals;
  readonly signer: NoteSigner;
}): ExportAudit =>
  async function* (metadata) {
    const { revision, data } = await seals.seal(metadata);
    const writer = createExportWriter(signer);
    let chunk = "";
    try {
      const deleted = await readDeletedJournals(store);
      const leftOut = new Set([...deleted].map(journalStream));
      for await (const event of readSealedEvents(store, { journals: true })) {
        if (event.position > data.position) break;
        if (leftOut.has(event.stream)) continue;
        chunk += writer.add(provenEvent(event));
        if (chunk.length < chunkLength) continue;
        yield chunk;
        chunk = "";
      }
      const seal = await readEvent(store, sealsStream, { fromInclusive: revision });
      if (seal) chunk += writer.add(provenEvent(seal));
      if ((await readDeletedJournals(store)).difference(deleted).size > 0)
        throw new DeletedMeanwhile(
          "archived journals were deleted while the log was exported: export it again",
        );
    } catch (error) {
      throw toUnavailable(error);
    }
    yield chunk + writer.end();
  };
