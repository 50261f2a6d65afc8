import { toHex } from "../../bytes.ts";
import { isOfType } from "../../event-shapes.ts";
import type { UsageAccountEvent } from "../accounts/usage-account.ts";
import {
  archiveRoot,
  archiveText,
  createDayTotals,
  type JournalsArchived,
  type JournalsArchivedEvent,
} from "../archive/journals-archived.ts";
import { canonicalJson } from "../journal/canonical.ts";
import { journalRegistryStream } from "../journal/journal-registry.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import type { JournalHead, SealEvent } from "../seals/seal.ts";
import { type NoteVerifier, namesKey, openNote, parseNote } from "../seals/seal-note.ts";
import type { createJournalChains } from "./journal-chains.ts";
import { NotEndorsed, NotGenuine, nameOf } from "./not-genuine.ts";

/** An archive that the log names. Its journals must be known before their events are read. */
export interface PlannedArchive extends Pick<JournalsArchived, "file" | "journals"> {
  readonly position: number;
}

type PlannedEvent = Pick<ProvenEvent, "stream" | "position" | "type" | "data" | "metadata">;

/** Adds an event of the stream `journals`, if it names an archive. */
export const addToArchives = (archives: PlannedArchive[], event: PlannedEvent): void => {
  if (event.stream !== journalRegistryStream) return;
  if (!isOfType<JournalsArchivedEvent, PlannedEvent>(event, ["JournalsArchived"])) return;
  const { file, journals } = event.data;
  archives.push({ position: event.position, file, journals });
};

interface ArchiveCheckOptions {
  readonly archives: readonly PlannedArchive[];
  readonly chains: Pick<ReturnType<typeof createJournalChains>, "isOpen">;
  /** Archived journals whose events are missing. */
  readonly missingJournals: ReadonlySet<string> | undefined;
  /** The keys whose notes are accepted. Complete after the last seal. */
  readonly acceptedKeys: () => readonly NoteVerifier[];
}

type ArchiveEvent = ProvenEvent & JournalsArchivedEvent;

/**
 * Compares each `JournalsArchived` with the seals and postings before it. Holds the last sealed
 * event of each journal that is archived later.
 */
export const createArchiveCheck = ({
  archives,
  chains,
  missingJournals,
  acceptedKeys,
}: ArchiveCheckOptions) => {
  const days = new Map(archives.map((archive) => [archive, createDayTotals()]));
  const archiveOf = new Map(
    archives.flatMap((archive) => archive.journals.map((journal) => [journal, archive])),
  );
  const heads = new Map<string, JournalHead>();
  const archived = new Set<string>();
  const found: ArchiveEvent[] = [];

  const addSeal = (event: ProvenEvent & SealEvent): void => {
    for (const head of event.data.journals) {
      if (archived.has(head.journal))
        throw new NotGenuine(`${nameOf(event)} covers events of the archived journal ${head.journal}`);
      if (archiveOf.has(head.journal)) heads.set(head.journal, head);
    }
  };

  const headOf = (event: ProvenEvent, journal: string): JournalHead => {
    if (archived.has(journal)) throw new NotGenuine(`${nameOf(event)} archives journal ${journal} again`);
    const head = heads.get(journal);
    if (!head || chains.isOpen(journal))
      throw new NotGenuine(`${nameOf(event)} archives journal ${journal}, which is open or not sealed`);
    archived.add(journal);
    heads.delete(journal);
    return head;
  };

  const addArchive = (event: ArchiveEvent): void => {
    const { journals, root, note } = event.data;
    const signed = parseNote(note);
    if (signed?.text !== archiveText(String(signed?.name), event.data))
      throw new NotGenuine(`${nameOf(event)} has a note of another archive`);
    found.push(event);
    const last = journals.map((journal) => headOf(event, journal));
    if (toHex(archiveRoot(last)) !== root)
      throw new NotGenuine(`${nameOf(event)} does not have the root that the seals give`);
    const archive = archives.find(({ position }) => position === event.position);
    const events = last.reduce((sum, { revision }) => sum + revision + 1, 0);
    const expected = { events, days: (archive && days.get(archive)?.totals()) ?? [] };
    if (canonicalJson({ events: event.data.events, days: event.data.days }) !== canonicalJson(expected))
      throw new NotGenuine(`${nameOf(event)} does not have the totals that seals and postings give`);
  };

  return {
    /** @throws {NotGenuine} */
    add: (event: ProvenEvent): void => {
      if (archives.length === 0 && event.type !== "JournalsArchived") return;
      if (isOfType<SealEvent, ProvenEvent>(event, ["Sealed"])) addSeal(event);
      else if (isOfType<UsageAccountEvent, ProvenEvent>(event, ["UsagePosted"]) && "cells" in event.data) {
        const archive = archiveOf.get(event.data.journal);
        if (archive) days.get(archive)?.add(event.data.cells);
      } else if (isOfType<JournalsArchivedEvent, ProvenEvent>(event, ["JournalsArchived"])) addArchive(event);
    },
    /**
     * Returns remarks. Call it after the last event.
     * @throws {NotGenuine} for a wrong signature
     * @throws {NotEndorsed} if journals are missing of which only another key says that a file has
     *   them
     */
    end: (): string[] => found.flatMap((event) => checkSignature(event, acceptedKeys(), missingJournals)),
  };
};

/** Seals cover what anybody appends, so only an accepted key excuses missing journals. */
const checkSignature = (
  event: ArchiveEvent,
  keys: readonly NoteVerifier[],
  missingJournals: ReadonlySet<string> | undefined,
): string[] => {
  const { note, journals } = event.data;
  if (openNote(note, keys) !== undefined) return [];
  const named = parseNote(note);
  if (named && keys.some((key) => namesKey(named, key)))
    throw new NotGenuine(`${nameOf(event)} is not signed with a given key: the signature is wrong`);
  const message = `${nameOf(event)} is not signed with a given key, nor with one that a given key endorsed`;
  if (missingJournals && journals.some((journal) => missingJournals.has(journal)))
    throw new NotEndorsed(message);
  return [message];
};
