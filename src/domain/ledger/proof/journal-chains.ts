import { isOfType } from "../../event-shapes.ts";
import { eventDigest } from "../journal/canonical.ts";
import { type JournalEvent, journalPrefix, journalTypes } from "../journal/journal.ts";
import { type JournalRegistryEvent, journalRegistryStream } from "../journal/journal-registry.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import { byJournal, envelopeDigest, type JournalHead } from "../seals/seal.ts";
import { NotGenuine, nameOf } from "./not-genuine.ts";

interface Chain {
  readonly last: ProvenEvent;
  readonly digest: string;
  readonly envelopes: string;
  readonly at: string;
  readonly isClosed: boolean;
}

/**
 * Checks the registry of journals and the chain of digests in each of them. Holds the last event of
 * every journal that is open or was retired after the last call of `forgetRetired`, and the names
 * of all journals.
 */
export const createJournalChains = () => {
  const chains = new Map<string, Chain | undefined>();
  /** All journals that the registry has named. */
  const registered = new Set<string>();
  let open: readonly string[] = [];

  const register = (event: ProvenEvent): void => {
    if (!isOfType<JournalRegistryEvent, ProvenEvent>(event, ["JournalOpened", "JournalRetired"])) return;
    const { journal } = event.data;
    const isOpened = event.type === "JournalOpened";
    const expected = isOpened ? [...open, journal] : open.filter((one) => one !== journal);
    if (isOpened === open.includes(journal) || !isSameSet(expected, event.data.open)) {
      throw new NotGenuine(`${nameOf(event)} does not continue the list of open journals`);
    }
    registered.add(journal);
    if (isOpened) chains.set(journal, undefined);
    else if (chains.get(journal)?.isClosed === false) {
      throw new NotGenuine(`${nameOf(event)} retires a journal that is not closed`);
    }
    open = event.data.open;
  };

  const extend = (event: ProvenEvent): void => {
    const journal = event.stream.slice(journalPrefix.length);
    if (!open.includes(journal)) throw new NotGenuine(`${nameOf(event)} is of a journal that is not open`);
    const chain = chains.get(journal);
    if (!isOfType<JournalEvent, ProvenEvent>(event, journalTypes)) {
      throw new NotGenuine(`${nameOf(event)} is not a well-formed event of a journal`);
    }
    if (event.data.previous !== (chain?.digest ?? null)) throw brokenChain(event, chain?.last);
    if (chain && event.data.at < chain.at)
      throw new NotGenuine(`${nameOf(event)} is earlier than its predecessor`);
    if (chain?.isClosed && event.type !== "JournalPosted") {
      throw new NotGenuine(`${nameOf(event)} follows the end of its journal`);
    }
    const isClosed = chain?.isClosed === true || event.type === "JournalClosed";
    const envelopes = envelopeDigest(chain?.envelopes ?? null, event);
    chains.set(journal, { last: event, digest: eventDigest(event), envelopes, at: event.data.at, isClosed });
  };

  const headOf = (journal: string): JournalHead | undefined => {
    const chain = chains.get(journal);
    return (
      chain && { journal, revision: chain.last.revision, digest: chain.digest, envelopes: chain.envelopes }
    );
  };

  return {
    /** @throws {NotGenuine} */
    add: (event: ProvenEvent): void => {
      if (event.stream === journalRegistryStream) register(event);
      else if (event.stream.startsWith(journalPrefix)) extend(event);
    },
    /** The last event of the journal; undefined without events. */
    headOf,
    /** The last event of each journal in the order of names. */
    heads: (): JournalHead[] =>
      [...chains.keys()]
        .map(headOf)
        .filter((head) => head !== undefined)
        .sort(byJournal),
    isRegistered: (journal: string): boolean => registered.has(journal),
    isOpen: (journal: string): boolean => open.includes(journal),
    forgetRetired: (): void => {
      for (const journal of chains.keys()) if (!open.includes(journal)) chains.delete(journal);
    },
  };
};

const brokenChain = (event: ProvenEvent, last: ProvenEvent | undefined): NotGenuine =>
  new NotGenuine(
    last === undefined
      ? `${nameOf(event)} was changed: its journal has no earlier event`
      : `${nameOf(last)} was changed: revision ${event.revision} names another predecessor`,
  );

const isSameSet = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && new Set([...some, ...others]).size === some.length;
