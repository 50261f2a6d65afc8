import { eventTypes, isOfType } from "../../event-shapes.ts";
import { anyObject, object } from "../../shape.ts";
import { chained, type JournalEvent, journalPrefix, journalTypes } from "../journal/journal.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import { sealShapes, sealsStream } from "../seals/seal.ts";
import { type EventPlace, NotGenuine, nameOf } from "./not-genuine.ts";

/**
 * How an event of another program was recognised. It looks like none of this service's: it has
 * neither a type of this release nor the members of what belongs into its stream.
 *
 * - `journal`: in a journal that the registry does not name. It is ignored. An own event there, or
 *   a journal that is named later, is not genuine.
 * - `seal`, `malformed`: in `seals`; not an object, elsewhere. It keeps its revision, and its leaf
 *   in the tree: it can replace nothing that a seal covers.
 */
export type Foreign = "journal" | "seal" | "malformed";

const descriptions: Readonly<Record<Foreign, string>> = {
  journal: "events are of another program's journals, which the registry does not name",
  seal: "events in the stream seals are another program's",
  malformed: "events are another program's, and are no JSON objects",
};

type Recognisable = Pick<ProvenEvent, "stream" | "type" | "data" | "metadata">;

const ownTypes = new Set(eventTypes);
const isLink = object(chained);
const isSeal = object(sealShapes.Sealed);

/**
 * Recognises events of other programs. `isRegistered`: true if the registry has named the journal
 * so far.
 */
export const recogniseForeign = (
  event: Recognisable,
  isRegistered: (journal: string) => boolean,
): Foreign | undefined => {
  const { stream, type, data, metadata } = event;
  if (stream.startsWith(journalPrefix)) {
    const isOwn =
      isRegistered(stream.slice(journalPrefix.length)) ||
      isLink(data) ||
      isOfType<JournalEvent, Recognisable>(event, journalTypes);
    return isOwn ? undefined : "journal";
  }
  // A row that cannot be read has no type.
  if (ownTypes.has(type) || type === "") return undefined;
  if (stream === sealsStream) return isSeal(data) ? undefined : "seal";
  return anyObject(data) && anyObject(metadata) ? undefined : "malformed";
};

/** Counts the events of other programs in a log. */
export const createForeignEvents = (isRegistered: (journal: string) => boolean) => {
  const found = new Map<Foreign, { count: number; readonly first: string }>();
  const journals = new Set<string>();
  return {
    recognise: (event: Recognisable): Foreign | undefined => recogniseForeign(event, isRegistered),
    count: (kind: Foreign, event: EventPlace): void => {
      const known = found.get(kind);
      if (known) known.count += 1;
      else found.set(kind, { count: 1, first: nameOf(event) });
      if (kind === "journal") journals.add(event.stream.slice(journalPrefix.length));
    },
    /**
     * Call it with each journal that the registry opens.
     * @throws {NotGenuine} if the journal has earlier events
     */
    requireNew: (journal: string, event: EventPlace): void => {
      if (journals.has(journal))
        throw new NotGenuine(`${nameOf(event)} opens a journal that has earlier events`);
    },
    remarks: (): string[] =>
      [...found].map(([kind, { count, first }]) => `${count} ${descriptions[kind]}: the first is ${first}`),
  };
};
