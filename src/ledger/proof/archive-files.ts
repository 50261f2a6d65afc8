import { createHash, type Hash } from "node:crypto";
import { canonicalJson } from "../../domain/ledger/journal/canonical.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import type { PlannedArchive } from "../../domain/ledger/proof/archive-check.ts";
import { runChecks } from "../../domain/ledger/proof/event-check.ts";
import { createExportReader, readLines } from "../../domain/ledger/proof/export-lines.ts";
import { NotGenuine, nameOf } from "../../domain/ledger/proof/not-genuine.ts";
import type { ProvenEvent } from "../../domain/ledger/seals/proven-event.ts";
import { cursorOf, type EventCursor, mergeByPosition } from "../audit/event-cursor.ts";

/** A file that `voxledger archive` has written. It is read twice. */
export interface ArchiveFile {
  /** For messages. */
  readonly path: string;
  open(): AsyncIterable<Uint8Array>;
}

/** Passes the bytes on, and adds them to the digest. */
export async function* addTo(
  digest: Hash,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    digest.update(chunk);
    yield chunk;
  }
}

/** A file and the archive that the log names it for. */
export interface FoundArchive<File extends ArchiveFile = ArchiveFile> {
  readonly file: File;
  readonly archive: PlannedArchive;
}

/**
 * Finds the archive of each file by its digest.
 * @throws {NotGenuine} for a file that none of the archives has
 * @throws the errors of `open`
 */
export const findArchives = async <File extends ArchiveFile>(
  files: readonly File[],
  archives: readonly PlannedArchive[],
): Promise<FoundArchive<File>[]> => {
  const found = new Map<PlannedArchive, FoundArchive<File>>();
  for (const file of files) {
    const digest = createHash("sha256");
    for await (const chunk of file.open()) digest.update(chunk);
    const hex = digest.digest("hex");
    const archive = archives.find((one) => one.file === hex);
    if (!archive)
      throw new NotGenuine(`the archive ${file.path} has the SHA-256 ${hex}, which no sealed archive has`);
    found.set(archive, { file, archive });
  }
  return [...found.values()];
};

/**
 * The events of the log and of the files in order of position. An event that is in both occurs
 * once.
 * @throws {NotGenuine}
 * @throws the errors of `log` and `open`
 */
export const withArchives = (
  log: AsyncIterable<ProvenEvent>,
  found: readonly FoundArchive[],
): AsyncIterable<ProvenEvent> => (found.length === 0 ? log : merged([log, ...found.map(readArchive)]));

async function* merged(
  sources: readonly AsyncIterable<ProvenEvent>[],
): AsyncGenerator<ProvenEvent, void, undefined> {
  let previous: ProvenEvent | undefined;
  for await (const event of mergeByPosition(await Promise.all(sources.map(beginCursor)))) {
    if (event.position !== previous?.position) yield event;
    else requireSame(event, previous);
    previous = event;
  }
}

const beginCursor = async (events: AsyncIterable<ProvenEvent>): Promise<EventCursor<ProvenEvent>> => {
  const cursor = cursorOf<ProvenEvent>(undefined, () => events);
  await cursor.advance();
  return cursor;
};

const requireSame = (event: ProvenEvent, other: ProvenEvent): void =>
  runChecks(event, () => {
    if (canonicalJson(event) !== canonicalJson(other))
      throw new NotGenuine(`${nameOf(event)} differs from the archived event`);
  });

/** The events of one archive. Its digest is compared again, because the file may have changed. */
async function* readArchive({ file, archive }: FoundArchive): AsyncGenerator<ProvenEvent, void, undefined> {
  const streams = new Set(archive.journals.map(journalStream));
  const digest = createHash("sha256");
  // The log names the digest of all bytes, so it does not matter who signed their end.
  const reader = createExportReader(() => {});
  for await (const line of readLines(addTo(digest, file.open()))) {
    const event = reader.read(line)?.event;
    if (event && !streams.has(event.stream))
      throw new NotGenuine(`${nameOf(event)} in ${file.path} is of no journal that the archive has`);
    if (event) yield event;
  }
  reader.end();
  if (digest.digest("hex") !== archive.file)
    throw new NotGenuine(`the archive ${file.path} was changed while it was read`);
}
