import { never } from "../../never.ts";
import { type EventOf, listOf, text, utcTime } from "../../shape.ts";

const listed = {
  journal: text,
  /**
   * All journals that are opened and not retired after this event: the last event of the stream
   * suffices to know them.
   */
  open: listOf(text),
  at: utcTime,
};

/** The journals of the installation. Stream `journals`. */
export const journalRegistryShapes = { JournalOpened: listed, JournalRetired: listed };
export type JournalRegistryEvent = EventOf<typeof journalRegistryShapes>;

export const journalRegistryStream = "journals";

/** The journals that are opened and not retired. */
export type OpenJournals = readonly string[];

export const journalRegistryDecider = {
  initial: (): OpenJournals => [],
  evolve: (open: OpenJournals, event: JournalRegistryEvent): OpenJournals => {
    switch (event.type) {
      case "JournalOpened":
      case "JournalRetired":
        return event.data.open;
      default:
        return never(event, open);
    }
  },
};

export const openJournal = (open: OpenJournals, journal: string, at: string): JournalRegistryEvent[] =>
  open.includes(journal) ? [] : [{ type: "JournalOpened", data: { journal, open: [...open, journal], at } }];

export const forgetJournal = (open: OpenJournals, journal: string, at: string): JournalRegistryEvent[] =>
  open.includes(journal)
    ? [{ type: "JournalRetired", data: { journal, open: open.filter((one) => one !== journal), at } }]
    : [];
