import { joinIntoChunks } from "../../async/chunks.ts";
import { afterErrors, retry } from "../../async/retry.ts";
import { systemTime } from "../../async/time.ts";
import { toHex } from "../../domain/bytes.ts";
import { Invalid } from "../../domain/errors.ts";
import { isOfType } from "../../domain/event-shapes.ts";
import { type UsageAccountEvent, usageAccountPrefix } from "../../domain/ledger/accounts/usage-account.ts";
import {
  archiveRoot,
  archiveText,
  createDayTotals,
  type JournalsArchived,
  type JournalsArchivedEvent,
} from "../../domain/ledger/archive/journals-archived.ts";
import { journalPrefix, journalStream } from "../../domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../domain/ledger/journal/journal-registry.ts";
import { startOfMonth } from "../../domain/ledger/month.ts";
import { month } from "../../domain/ledger/period.ts";
import { createExportWriter } from "../../domain/ledger/proof/export-lines.ts";
import { NotGenuine } from "../../domain/ledger/proof/not-genuine.ts";
import { createNoteVerifier, type NoteSigner } from "../../domain/ledger/seals/note-signer.ts";
import { provenEvent } from "../../domain/ledger/seals/proven-event.ts";
import { type NoteVerifier, openNote } from "../../domain/ledger/seals/seal-note.ts";
import type { EpochMs } from "../../domain/time.ts";
import { parse } from "../../domain/validation.ts";
import {
  type EventMetadata,
  type EventStore,
  type RecordedEvent,
  WrongExpectedRevision,
} from "../../eventstore/event-store.ts";
import { readLog } from "../../eventstore/follow-events.ts";
import { toUnavailable } from "../../eventstore/store-error.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";
import { readArchives } from "../journal/archived-journals.ts";
import type { Seals } from "../proof/seals.ts";
import { readWritten, requireSealedEnds, type WrittenArchive } from "./read-written.ts";
import { readRecordedArchive, selectRecorded } from "./recorded-archive.ts";
import { type ArchivableJournals, selectJournals } from "./select-journals.ts";

/** A new file, which has its name only when it is complete. */
export interface NewArchive extends ExistingArchive {
  /** Writes the text durably, under another name. */
  write(text: AsyncIterable<string>): Promise<void>;
  /**
   * Gives the file its name, durably.
   * @throws if there is a file of this name
   */
  publish(): Promise<void>;
}

export interface ExistingArchive {
  read(): AsyncIterable<Uint8Array>;
}

interface ArchiveRequest<File extends ExistingArchive> {
  /** `yyyy-mm`. The last event of each archived journal precedes it. */
  readonly before: string;
  readonly file: File;
}

export interface ArchivedJournals extends Pick<JournalsArchived, "file" | "journals" | "events"> {
  /** The number of journals for a further archive. */
  readonly remaining: number;
}

export interface ArchiveJournals {
  /**
   * Seals the log. Writes old journals to a file, verifies it, and then records `JournalsArchived`.
   * The journals stay in the log. If it fails or is interrupted, nothing was recorded, or the file
   * is complete: it can be repeated with another file.
   * @throws {Invalid} for a bad month, or if no journal qualifies
   * @throws as `Seals.seal` and `NewArchive` do
   * @throws {NotGenuine} if the file does not have what was written
   * @throws {Unavailable}
   */
  archive(request: ArchiveRequest<NewArchive>, metadata: EventMetadata): Promise<ArchivedJournals>;
  /**
   * Records `JournalsArchived` for the file of an `archive` that was interrupted before it did.
   * Returns undefined if it is recorded.
   * @throws as `archive` does, and if the journals in the file do not qualify
   * @throws {Invalid} if an event in the file does not precede the month
   */
  adopt(
    request: ArchiveRequest<ExistingArchive>,
    metadata: EventMetadata,
  ): Promise<ArchivedJournals | undefined>;
  /**
   * Writes the file of a recorded archive again: `digest` is its SHA-256 (hex).
   * @throws if its journals are deleted, or it was signed with a key that this process lacks
   * @throws as `archive` does
   */
  writeAgain(digest: string, file: NewArchive): Promise<void>;
}

export interface ArchiveOptions {
  readonly store: EventStore;
  readonly seals: Pick<Seals, "seal">;
  readonly signer: NoteSigner;
  /** The signers of former keys, which may have signed earlier archives. Default: none. */
  readonly formerSigners?: readonly NoteSigner[];
  /** The keys that sign files and seals. */
  readonly keys: readonly NoteVerifier[];
  readonly clock: () => EpochMs;
  /**
   * The time at which a service last recorded something. With it, a clock that is ahead archives
   * nothing recent. Default: the clock is right.
   */
  readonly lastTime?: EpochMs;
  /** An event has at most this many journals. Default: 5,000, whose event has 0.2 MB. */
  readonly maxJournals?: number;
}

export const createArchiveJournals = (options: ArchiveOptions): ArchiveJournals => {
  const { store, seals, signer, keys, clock, maxJournals: max = 5_000 } = options;
  const { lastTime = Number.POSITIVE_INFINITY } = options;

  const select = async (requested: string, metadata: EventMetadata, only?: ReadonlySet<string>) => {
    const before = parse(month, requested);
    const { data: seal } = await seals.seal(metadata);
    const selected = await selectJournals(store, {
      ...{ before, max, only },
      now: Math.min(clock(), lastTime),
      sealedUpTo: seal.position,
    });
    if (selected.heads.length === 0) throw nothingToArchive(before);
    return selected;
  };

  const recordSealed = async (
    event: JournalsArchived,
    remaining: number,
    metadata: EventMetadata,
  ): Promise<ArchivedJournals> => {
    await record(options, event, metadata);
    // Only a sealed event makes a verification accept the log without these journals.
    await seals.seal(metadata).catch((cause: unknown) => {
      throw new Error("the archive is recorded, but the log could not be sealed since", { cause });
    });
    const { file, journals, events } = event;
    return { file, journals, events, remaining };
  };

  return {
    archive: async ({ before, file }, metadata) => {
      try {
        const selected = await select(before, metadata);
        await file.write(joinIntoChunks(archiveLines(store, signer, selected)));
        const written = await readWritten(file, keys);
        requireSealedEnds(written, selected.heads);
        const event = await describe(options, selected, written.digest);
        await file.publish();
        return await recordSealed(event, selected.remaining, metadata);
      } catch (error) {
        throw toUnavailable(error);
      }
    },
    adopt: async ({ before, file }, metadata) => {
      try {
        const written = await readWritten(file, keys);
        if (written.lastAt >= startOfMonth(parse(month, before))) throw endsLater(written, before);
        const recorded = await readArchives(store);
        if (recorded.some(({ data }) => data.file === written.digest)) return undefined;
        const selected = await select(before, metadata, new Set(written.ends.keys()));
        requireSealedEnds(written, selected.heads);
        const event = await describe(options, selected, written.digest);
        return await recordSealed(event, selected.remaining, metadata);
      } catch (error) {
        throw toUnavailable(error);
      }
    },
    writeAgain: async (digest, file) => {
      try {
        const archive = await readRecordedArchive(store, digest, keys);
        const selected = await selectRecorded(store, archive);
        const former = [signer, ...(options.formerSigners ?? [])];
        const signedBy = former.find((one) => hasSigned(one, archive.data.note));
        if (!signedBy)
          throw new Error("the archive was signed with a key that this installation has no more");
        await file.write(joinIntoChunks(archiveLines(store, signedBy, selected)));
        const written = await readWritten(file, keys);
        requireSealedEnds(written, selected.heads);
        if (written.digest !== digest)
          throw new NotGenuine(
            `the file would have the SHA-256 ${written.digest}: run voxledger audit verify`,
          );
        await file.publish();
      } catch (error) {
        throw toUnavailable(error);
      }
    },
  };
};

const hasSigned = ({ verifierKey }: NoteSigner, note: string): boolean => {
  const key = createNoteVerifier(verifierKey);
  return key !== undefined && openNote(note, [key]) !== undefined;
};

const nothingToArchive = (before: string): Invalid =>
  new Invalid([
    {
      path: ["before"],
      message: `no journal ended before ${before} and more than 90 days before now and the newest serving, or archives have them all.`,
    },
  ]);

const endsLater = ({ lastAt }: WrittenArchive, before: string): Invalid => {
  const last = new Date(lastAt).toISOString();
  return new Invalid([
    {
      path: ["before"],
      message: `the last event in the file is of ${last}, which does not precede ${before}.`,
    },
  ]);
};

async function* archiveLines(
  store: EventStore,
  signer: NoteSigner,
  { heads, fromExclusive, toInclusive }: ArchivableJournals,
): AsyncGenerator<string> {
  const streams = new Set(heads.map(({ journal }) => journalStream(journal)));
  const writer = createExportWriter(signer);
  for await (const event of readLog(store, { prefixes: [journalPrefix], fromExclusive })) {
    if (event.position > toInclusive) break;
    if (!streams.has(event.stream)) continue;
    yield writer.add(provenEvent(event));
  }
  yield writer.end();
}

/** The event of the archive. Reads all postings since the first of the journals was opened. */
const describe = async (
  { store, signer, clock }: ArchiveOptions,
  { heads, fromExclusive }: ArchivableJournals,
  file: string,
): Promise<JournalsArchived> => {
  const journals = heads.map(({ journal }) => journal);
  const archived = new Set(journals);
  const days = createDayTotals();
  for await (const event of readLog(store, { prefixes: [usageAccountPrefix], fromExclusive })) {
    if (!isOfType<UsageAccountEvent, RecordedEvent>(event, ["UsagePosted"]) || !("cells" in event.data))
      continue;
    if (archived.has(event.data.journal)) days.add(event.data.cells);
  }
  const root = toHex(archiveRoot(heads));
  return {
    ...{ file, journals, root },
    events: heads.reduce((sum, { revision }) => sum + revision + 1, 0),
    days: days.totals(),
    note: signer.sign(archiveText(signer.name, { file, root })),
    at: new Date(clock()).toISOString(),
  };
};

/** Instances open and retire journals at the same time. */
const afterConflicts = afterErrors((error) => error instanceof WrongExpectedRevision, {
  firstMs: 20,
  maxMs: 1_000,
  maxAttempts: 10,
});

/** Appends the event, unless another command has archived one of the journals meanwhile. */
const record = async (
  { store, clock }: ArchiveOptions,
  data: JournalsArchived,
  metadata: EventMetadata,
): Promise<void> => {
  const event = { id: uuidv7(clock()), type: "JournalsArchived", data, metadata };
  await retry({ delayAfter: afterConflicts, time: systemTime }, async () => {
    const archived = new Set<string>();
    let revision = -1;
    for await (const recorded of store.readStream(journalRegistryStream)) {
      revision = recorded.revision;
      if (!isOfType<JournalsArchivedEvent, RecordedEvent>(recorded, ["JournalsArchived"])) continue;
      // The response to an earlier attempt was lost, or another command has adopted the file.
      if (recorded.data.file === data.file && recorded.data.note === data.note) return;
      for (const journal of recorded.data.journals) archived.add(journal);
    }
    const other = data.journals.find((journal) => archived.has(journal));
    if (other !== undefined)
      throw new Error(
        `another archive has journal ${other} since: remove this file, which the log does not name`,
      );
    await store.append(journalRegistryStream, [event], revision);
  });
};
