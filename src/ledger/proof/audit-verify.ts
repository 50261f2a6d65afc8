import { isKnownStream, isWellFormed } from "../../domain/event-shapes.ts";
import { journalPrefix } from "../../domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../domain/ledger/journal/journal-registry.ts";
import { addToArchives, type PlannedArchive } from "../../domain/ledger/proof/archive-check.ts";
import { requireForm } from "../../domain/ledger/proof/event-check.ts";
import {
  createExportReader,
  isNeededFirst,
  peekEvent,
  readLines,
  signedWith,
} from "../../domain/ledger/proof/export-lines.ts";
import { createLogVerifier, type LogSummary } from "../../domain/ledger/proof/log-verifier.ts";
import { NotGenuine } from "../../domain/ledger/proof/not-genuine.ts";
import { addToPlan, type KeptSeal, type SealPlan } from "../../domain/ledger/proof/seal-check.ts";
import { type ProvenEvent, provenEvent } from "../../domain/ledger/seals/proven-event.ts";
import { isCovered, sealsStream } from "../../domain/ledger/seals/seal.ts";
import type { NoteVerifier } from "../../domain/ledger/seals/seal-note.ts";
import { type EventStore, EventStoreDamaged, readLastEvent } from "../../eventstore/event-store.ts";
import { readLog } from "../../eventstore/follow-events.ts";
import { toUnavailable } from "../../eventstore/store-error.ts";
import { DeletedMeanwhile, findMissing, readMissingJournals } from "../journal/archived-journals.ts";
import { type ArchiveFile, type FoundArchive, findArchives, withArchives } from "./archive-files.ts";

export interface VerifyOptions {
  /** The keys that the auditor has. Those that they endorsed are found in the log. */
  readonly keys: readonly NoteVerifier[];
  /** One of the seals must be this one. */
  readonly kept?: KeptSeal | undefined;
  /** Files that have the events of archived journals. Default: none. */
  readonly archives?: readonly ArchiveFile[] | undefined;
}

/** An archive whose file was not given, although the log lacks journals of it. */
export interface MissingArchive {
  /** SHA-256 (hex) of the file. */
  readonly file: string;
  /** The number of journals that the log lacks. */
  readonly journals: number;
}

export interface VerifiedExport extends LogSummary {
  /** Archives of journals whose leaves and sums were taken from seals and postings. */
  readonly missingArchives: readonly MissingArchive[];
}

type LogVerifier = ReturnType<typeof createLogVerifier>;

export interface VerifiedLog extends VerifiedExport {
  /**
   * The number of events in streams that are trimmed, which no seal covers: only their form is
   * checked.
   */
  readonly uncovered: number;
}

/**
 * Verifies the log of the event store, up to its current end. `store`: must deliver events as they
 * are stored.
 * @throws {NotGenuine}
 * @throws {DeletedMeanwhile} if the verification failed because archived journals were deleted
 * @throws {Unavailable} when the event store cannot be read
 */
export const verifyLog = async (store: EventStore, options: VerifyOptions): Promise<VerifiedLog> => {
  try {
    await store.checkIntegrity();
    const counts = { uncovered: 0 };
    const first = await readFirst(store);
    const events = (verifier: LogVerifier) => coveredEvents(store, first, verifier, counts);
    const summary = await verifyEvents(events, first, options).catch(async (error: unknown) => {
      throw (await isDeletedSince(store, first)) ? deletedMeanwhile(error) : error;
    });
    return { ...summary, ...counts };
  } catch (error) {
    if (error instanceof EventStoreDamaged) throw new NotGenuine(error.message);
    throw toUnavailable(error);
  }
};

/** True if journals were deleted after the beginning of the verification. */
const isDeletedSince = async (store: EventStore, { missingJournals }: KnownEnds): Promise<boolean> =>
  (await readMissingJournals(store)).difference(missingJournals).size > 0;

const deletedMeanwhile = (cause: unknown): DeletedMeanwhile =>
  new DeletedMeanwhile(
    "archived journals were deleted while the log was verified: verify it again, with the file of the archive (--archive)",
    { cause },
  );

/** What must be known of the log before its events are verified: a seal covers what precedes it. */
interface KnownFirst {
  /** It has at least the heads of missing journals. */
  readonly plan: readonly SealPlan[];
  readonly archives: readonly PlannedArchive[];
  /** The archived journals whose first event is in the log. Others are not read. */
  readonly begun: ReadonlySet<string>;
}

/** The last revisions that were read. The verification ends before later seals and archives. */
interface KnownEnds {
  /** The archived journals that were deleted before the verification. */
  readonly missingJournals: ReadonlySet<string>;
  readonly lastSeal: number;
  readonly lastRegistered: number;
}

const readFirst = async (store: EventStore): Promise<KnownFirst & KnownEnds> => {
  // A malformed seal counts, too: it is not in the plan, so that the verifier refuses it.
  const lastSeal = (await readLastEvent(store, sealsStream))?.revision ?? -1;
  const archives: PlannedArchive[] = [];
  let lastRegistered = -1;
  for await (const event of store.readStream(journalRegistryStream)) {
    addToArchives(archives, event);
    lastRegistered = event.revision;
  }
  const archived = archives.flatMap(({ journals }) => journals);
  const missingJournals = await findMissing(store, archived);
  const begun = new Set(archived.filter((journal) => !missingJournals.has(journal)));
  const plan: SealPlan[] = [];
  for await (const event of store.readStream(sealsStream)) {
    if (event.revision > lastSeal) break;
    addToPlan(plan, event, (journal) => missingJournals.has(journal));
  }
  return { plan, archives, begun, missingJournals, lastSeal, lastRegistered };
};

async function* coveredEvents(
  store: EventStore,
  { lastSeal, lastRegistered }: KnownEnds,
  verifier: LogVerifier,
  counts: { uncovered: number },
): AsyncGenerator<ProvenEvent, void, undefined> {
  for await (const event of readLog(store)) {
    const { stream, revision, type } = event;
    if (!isKnownStream(stream)) continue;
    if (!verifier.isForeign(event)) requireForm(event, isWellFormed);
    const isLaterSeal = stream === sealsStream && revision > lastSeal;
    const isLaterArchive =
      stream === journalRegistryStream && revision > lastRegistered && type === "JournalsArchived";
    if (isLaterSeal || isLaterArchive) return;
    if (isCovered(stream)) {
      yield provenEvent(event);
    } else {
      verifier.findForeign(event);
      counts.uncovered += 1;
    }
  }
}

/**
 * Verifies an export. It calls `open` twice, because it needs the positions of all seals before it
 * verifies events: a seal covers what precedes it.
 * @throws {NotGenuine}
 * @throws the errors of `open`
 */
export const verifyExport = async (
  open: () => AsyncIterable<Uint8Array>,
  options: VerifyOptions,
): Promise<VerifiedExport> =>
  verifyEvents((verifier) => exportedEvents(open(), verifier), await peekFirst(open()), options);

async function* exportedEvents(
  chunks: AsyncIterable<Uint8Array>,
  verifier: LogVerifier,
): AsyncGenerator<ProvenEvent, void, undefined> {
  // An export that no accepted key has signed may have a seal of such a key, too.
  const reader = createExportReader(signedWith(verifier.acceptedKeys, verifier.end));
  let isFirst = true;
  for await (const line of readLines(chunks)) {
    const event = reader.read(line)?.event;
    if (!event) continue;
    // In an export, the registration of a journal precedes its first event.
    if (isFirst && event.stream.startsWith(journalPrefix) && !verifier.isForeign(event))
      throw new NotGenuine("it is no export, but an archive: verify the log or an export with --archive");
    isFirst = false;
    yield event;
  }
  reader.end();
}

const peekFirst = async (chunks: AsyncIterable<Uint8Array>): Promise<KnownFirst> => {
  const plan: SealPlan[] = [];
  const archives: PlannedArchive[] = [];
  const begun = new Set<string>();
  for await (const line of readLines(chunks)) {
    const event = isNeededFirst(line) ? peekEvent(line) : undefined;
    // The first event of a journal precedes the seals that cover it.
    if (event?.stream === sealsStream) addToPlan(plan, event, (journal) => !begun.has(journal));
    if (event) addToArchives(archives, event);
    if (event?.stream.startsWith(journalPrefix) && event.revision === 0)
      begun.add(event.stream.slice(journalPrefix.length));
  }
  return { plan, archives, begun };
};

const verifyEvents = async (
  readEvents: (verifier: LogVerifier) => AsyncIterable<ProvenEvent>,
  { plan, archives, begun }: KnownFirst,
  { keys, kept, archives: files = [] }: VerifyOptions,
): Promise<VerifiedExport> => {
  const sealedUpTo = plan.at(-1)?.position ?? -1;
  const sealed = archives.filter(({ position }) => position <= sealedUpTo);
  const found = await findArchives(files, sealed);
  const missing = missingByFile(sealed, found, begun);
  const missingJournals = new Set([...missing.values()].flat());
  const verifier = createLogVerifier({ keys, kept, archives, missingJournals, plan });
  for await (const event of withArchives(readEvents(verifier), found)) {
    if (verifier.findForeign(event)) verifier.addForeign(event);
    else verifier.add(event);
  }
  return {
    ...verifier.end(),
    missingArchives: [...missing].map(([file, journals]) => ({ file, journals: journals.length })),
  };
};

/** The journals that are not in the log, by the digest of the archive that was not given. */
const missingByFile = (
  archives: readonly PlannedArchive[],
  found: readonly FoundArchive[],
  begun: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> => {
  const given = new Set(found.map(({ archive }) => archive));
  return new Map(
    archives
      .filter((archive) => !given.has(archive))
      .map(({ file, journals }) => [file, journals.filter((journal) => !begun.has(journal))] as const)
      .filter(([, journals]) => journals.length > 0),
  );
};
