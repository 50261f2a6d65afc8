import { never } from "../never.ts";

/** The journals of the installation. Stream `journals`. */
export type JournalRegistryEvent =
  | { readonly type: "JournalOpened"; readonly data: JournalListed }
  | { readonly type: "JournalRetired"; readonly data: JournalListed };

export interface JournalListed {
  readonly journal: string;
  /** All journals that are opened and not retired after this event: the last event of the stream suffices to know them. */
  readonly open: readonly string[];
  /** ISO 8601, UTC. */
  readonly at: string;
}

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

export const retireJournal = (open: OpenJournals, journal: string, at: string): JournalRegistryEvent[] =>
  open.includes(journal)
    ? [{ type: "JournalRetired", data: { journal, open: open.filter((one) => one !== journal), at } }]
    : [];
