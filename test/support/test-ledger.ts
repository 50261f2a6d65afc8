import type { Principal } from "../../src/application/access/principal.ts";
import { journalPrefix } from "../../src/domain/ledger/journal/journal.ts";
import type { Receipt, Serving, StreamEnd, VoidedServing } from "../../src/domain/ledger/journal/serving.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import type { Ledger, NewServing } from "../../src/ledger/ledger.ts";
import { type OpenLedger, type OpenLedgerOptions, openLedger } from "../../src/ledger/open-ledger.ts";
import { collect } from "./collect.ts";
import { readJournal } from "./read-journal.ts";

/**
 * A ledger over the store, as of one instance. A reported error fails the test, except after
 * `close`: many tests end it with `close(0)`, and then close the store under it.
 */
export const openTestLedger = async (
  store: EventStore,
  clock: () => number,
  options: Partial<OpenLedgerOptions> = {},
): Promise<OpenLedger> => {
  let isClosed = false;
  const opened = await openLedger({
    store,
    // On a busy machine a command may wait for the store's process for longer than by default.
    handler: createCommandHandler({ store, clock, deadlineMs: 120_000 }),
    clock,
    untilVisible: async () => {},
    onError: (what, error) => {
      if (!isClosed) throw new Error(what, { cause: error });
    },
    ...options,
  });
  const close = (timeoutMs: number): Promise<void> => {
    isClosed = true;
    return opened.close(timeoutMs);
  };
  return { ...opened, close };
};

export const record = (ledger: Ledger, principal: Principal, served: NewServing): Promise<Receipt> =>
  new Promise((resolve, reject) =>
    ledger.record(principal, served, (error, receipt) => (receipt ? resolve(receipt) : reject(error))),
  );

export interface LedgerEntries {
  readonly servings: (Serving & { readonly at: string })[];
  readonly voided: (VoidedServing & { readonly at: string })[];
  readonly streams: (StreamEnd & { readonly at: string })[];
}

/** The entries of all journals in the log. */
export const readLedger = async (store: EventStore): Promise<LedgerEntries> => {
  const journals = new Set<string>();
  for await (const { events, caughtUp } of store.subscribe({ prefixes: [journalPrefix] })) {
    for (const { stream } of events) journals.add(stream.slice(journalPrefix.length));
    if (caughtUp) break;
  }
  const all: LedgerEntries = { servings: [], voided: [], streams: [] };
  for (const journal of journals) {
    for (const { at, servings, voided, streams } of await collect(readJournal(store, journal))) {
      all.servings.push(...servings.map((one) => ({ ...one, at })));
      all.voided.push(...voided.map((one) => ({ ...one, at })));
      all.streams.push(...streams.map((one) => ({ ...one, at })));
    }
  }
  return all;
};
