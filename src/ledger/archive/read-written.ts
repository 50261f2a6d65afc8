import { createHash } from "node:crypto";
import { eventDigest } from "../../domain/ledger/journal/canonical.ts";
import { journalPrefix, journalStream } from "../../domain/ledger/journal/journal.ts";
import { createExportReader, readLines, signedWith } from "../../domain/ledger/proof/export-lines.ts";
import { NotGenuine, nameOf } from "../../domain/ledger/proof/not-genuine.ts";
import type { ProvenEvent } from "../../domain/ledger/seals/proven-event.ts";
import { envelopeDigest, type JournalHead } from "../../domain/ledger/seals/seal.ts";
import type { NoteVerifier } from "../../domain/ledger/seals/seal-note.ts";
import type { EpochMs } from "../../domain/time.ts";
import { eventTime } from "../../eventstore/event-store.ts";
import { addTo } from "../proof/archive-files.ts";

interface End {
  readonly revision: number;
  readonly digest: string;
  readonly envelopes: string;
}

/** The content of an archive's file. */
export interface WrittenArchive {
  /** SHA-256 (hex) of the file. */
  readonly digest: string;
  /** The last event of each journal. */
  readonly ends: ReadonlyMap<string, End>;
  /** The latest time of an event, as its process or the event store states it. */
  readonly lastAt: EpochMs;
}

/**
 * Reads an archive from the disk, with every journal from its first event on.
 * @throws {NotGenuine}
 */
export const readWritten = async (
  file: { read(): AsyncIterable<Uint8Array> },
  keys: readonly NoteVerifier[],
): Promise<WrittenArchive> => {
  const bytes = createHash("sha256");
  const ends = new Map<string, End>();
  let lastAt = 0;
  const reader = createExportReader(signedWith(() => keys));
  for await (const line of readLines(addTo(bytes, file.read()))) {
    const event = reader.read(line)?.event;
    if (!event) continue;
    if (!event.stream.startsWith(journalPrefix))
      throw new NotGenuine(`it is no archive: it has ${nameOf(event)}`);
    const journal = event.stream.slice(journalPrefix.length);
    ends.set(journal, continued(event, ends.get(journal)));
    lastAt = Math.max(lastAt, event.created, Date.parse(eventTime(event)));
  }
  reader.end();
  return { digest: bytes.digest("hex"), ends, lastAt };
};

const continued = (event: ProvenEvent, end: End | undefined): End => {
  const { previous } = event.data as { readonly previous?: unknown };
  if (event.revision !== (end?.revision ?? -1) + 1 || previous !== (end?.digest ?? null))
    throw new NotGenuine(`${nameOf(event)} does not follow the event before it in the archive`);
  return {
    revision: event.revision,
    digest: eventDigest(event),
    envelopes: envelopeDigest(end?.envelopes ?? null, event),
  };
};

/**
 * Compares every journal of the archive with the seals.
 * @throws {NotGenuine}
 */
export const requireSealedEnds = ({ ends }: WrittenArchive, heads: readonly JournalHead[]): void => {
  if (ends.size !== heads.length) throw new NotGenuine("the archive has other journals than were selected");
  for (const head of heads) requireEnd(head, ends.get(head.journal));
};

/** Seals of earlier releases have no digest of envelopes. */
const requireEnd = ({ journal, revision, digest, envelopes }: JournalHead, end: End | undefined): void => {
  const isSealed =
    end?.revision === revision &&
    end.digest === digest &&
    (envelopes === undefined || envelopes === end.envelopes);
  if (!isSealed)
    throw new NotGenuine(`${journalStream(journal)} does not end in the archive as its seal says`);
};
