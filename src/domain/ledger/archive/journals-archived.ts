import {
  type Checked,
  count,
  type DataOf,
  type EventOf,
  integer,
  listOf,
  object,
  text,
  utcTime,
} from "../../shape.ts";
import type { UsageCell, UsageCount } from "../accounts/usage-account.ts";
import { appendLeaf, emptyTree, rootOf } from "../seals/merkle.ts";
import { type JournalHead, journalLeaf } from "../seals/seal.ts";

/** The charges of all keys on one day (UTC), without voided servings. */
const dayTotals = object({ day: text, requests: integer, characters: integer });
type DayTotals = Checked<typeof dayTotals>;

/**
 * Archives of old journals. The events are in the stream `journals`, which every release seals, and
 * whose readers ignore types that they do not know.
 */
export const archiveShapes = {
  /** A file has all events of these journals, which are closed, posted and sealed. */
  JournalsArchived: {
    /** SHA-256 (hex) of the file. */
    file: text,
    /** They are in the order of their names. */
    journals: listOf(text),
    /** The number of events in the file. */
    events: count,
    /**
     * The root (hex) of a Merkle tree (RFC 6962). Its leaves are those that seals have for the last
     * events of the journals, in the order of `journals`.
     */
    root: text,
    /** The sum of all postings of the journals. The postings have the totals by key and day. */
    days: listOf(dayTotals),
    /**
     * The signed note of `archiveText`. It shows that the holder of the seal key has made the
     * archive: seals cover every event that somebody appends.
     */
    note: text,
    at: utcTime,
  },
};
export type JournalsArchivedEvent = EventOf<typeof archiveShapes>;
export type JournalsArchived = DataOf<typeof archiveShapes.JournalsArchived>;

/** The text that the seal key signs. `name`: that of the key. */
export const archiveText = (name: string, { file, root }: Pick<JournalsArchived, "file" | "root">): string =>
  `${name} archive\n${file}\n${root}\n`;

/** `heads`: the last events of the journals, as seals list them, in the order of names. */
export const archiveRoot = (heads: readonly JournalHead[]): Uint8Array =>
  rootOf(heads.map(journalLeaf).reduce(appendLeaf, emptyTree));

/** Sums up the cells of postings by day. */
export const createDayTotals = () => {
  const days = new Map<string, UsageCount>();
  return {
    add: (cells: readonly UsageCell[]): void => {
      for (const { day, requests, characters } of cells) {
        const before = days.get(day) ?? { requests: 0, characters: 0 };
        days.set(day, {
          requests: before.requests + requests,
          characters: before.characters + characters,
        });
      }
    },
    /** The days in order, without those whose servings were all voided. */
    totals: (): DayTotals[] =>
      [...days]
        .filter(([, { requests, characters }]) => requests !== 0 || characters !== 0)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([day, total]) => ({ day, ...total })),
  };
};
