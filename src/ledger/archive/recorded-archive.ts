import pLimit from "p-limit";
import { toHex } from "../../domain/bytes.ts";
import { archiveRoot, archiveText } from "../../domain/ledger/archive/journals-archived.ts";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import { NotGenuine } from "../../domain/ledger/proof/not-genuine.ts";
import type { JournalHead } from "../../domain/ledger/seals/seal.ts";
import { type NoteVerifier, openNote } from "../../domain/ledger/seals/seal-note.ts";
import { type EventStore, readEvent, readLastEvent } from "../../eventstore/event-store.ts";
import { type RecordedArchive, readArchives } from "../journal/archived-journals.ts";
import { type ArchivableJournals, readSealedHeads } from "./select-journals.ts";

/**
 * The archive whose file has this SHA-256 (hex). Others may append such an event, so its note must
 * be signed with one of the keys.
 * @throws {NotGenuine} if no such archive is recorded
 */
export const readRecordedArchive = async (
  store: EventStore,
  digest: string,
  keys: readonly NoteVerifier[],
): Promise<RecordedArchive> => {
  const isSigned = ({ data }: RecordedArchive): boolean => {
    const signed = openNote(data.note, keys);
    return signed !== undefined && keys.some(({ name }) => signed === archiveText(name, data));
  };
  const archive = (await readArchives(store)).find((one) => one.data.file === digest && isSigned(one));
  if (!archive) throw new NotGenuine(`the log names no archive with the SHA-256 ${digest}`);
  return archive;
};

/**
 * The last events of the archive's journals, as seals list them, in the order of names.
 * @throws {NotGenuine} if they are not those that were archived
 */
export const sealedHeadsOf = async (store: EventStore, { data }: RecordedArchive): Promise<JournalHead[]> => {
  const sealed = await readSealedHeads(store);
  const heads = data.journals.map((journal) => sealed.get(journal)).filter((head) => head !== undefined);
  if (heads.length !== data.journals.length || toHex(archiveRoot(heads)) !== data.root)
    throw new NotGenuine("the seals list other journals than the archive: run voxledger audit verify");
  return heads;
};

const maxConcurrentReads = 8;

/**
 * Selects the archive's journals in the log.
 * @throws {NotGenuine}
 * @throws if journals of it are deleted
 */
export const selectRecorded = async (
  store: EventStore,
  archive: RecordedArchive,
): Promise<ArchivableJournals> => {
  const heads = await sealedHeadsOf(store, archive);
  const ranges = await pLimit(maxConcurrentReads).map(heads, async ({ journal }) => {
    const stream = journalStream(journal);
    const [first, last] = [await readEvent(store, stream), await readLastEvent(store, stream)];
    return { first: first?.revision === 0 ? first.position : undefined, last: last?.position ?? -1 };
  });
  const firsts = ranges.map(({ first }) => first).filter((first) => first !== undefined);
  if (firsts.length < heads.length) {
    const deleted = heads.length - firsts.length;
    throw new Error(`${deleted} of the archive's ${heads.length} journals are no longer in the log`);
  }
  return {
    heads,
    fromExclusive: Math.min(...firsts) - 1,
    toInclusive: Math.max(...ranges.map(({ last }) => last)),
    remaining: 0,
  };
};
