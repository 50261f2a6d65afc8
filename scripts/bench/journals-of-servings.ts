import { randomUUID } from "node:crypto";
import { eventDigest } from "../../src/domain/ledger/journal/canonical.ts";
import { type JournalEvent, journalStream } from "../../src/domain/ledger/journal/journal.ts";
import type { Serving } from "../../src/domain/ledger/journal/serving.ts";
import { ServingColumns } from "../../src/domain/ledger/journal/serving-columns.ts";
import type { EventStore, NewEvent } from "../../src/eventstore/event-store.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";

const servingsPerEvent = 256;
const eventsPerJournal = 10_000;
const eventsPerAppend = 50;
const maxEventBytes = 60_000;
const hashes = 64;

export interface JournalsOfServings {
  readonly servings: number;
  /** The servings are drawn evenly from these keys. */
  readonly keys: readonly string[];
  /**
   * The time of the first event, in milliseconds since the epoch; each event is a millisecond
   * later.
   */
  readonly begin: number;
}

/**
 * Writes closed journals with this number of servings, about 80 bytes each. Returns the names of
 * the journals.
 */
export const writeJournals = async (
  store: EventStore,
  { servings, keys, begin }: JournalsOfServings,
): Promise<string[]> => {
  const journals: string[] = [];
  for (let first = 0; first < servings; first += eventsPerJournal * servingsPerEvent) {
    const count = Math.min(eventsPerJournal * servingsPerEvent, servings - first);
    journals.push(await writeJournal(store, { first, count, keys, begin }));
  }
  return journals;
};

const writeJournal = async (
  store: EventStore,
  { first, count, keys, begin }: Omit<JournalsOfServings, "servings"> & { first: number; count: number },
): Promise<string> => {
  const journal = randomUUID();
  let previous: string | null = null;
  let revision = -1;
  let batch: NewEvent[] = [];
  const add = (event: JournalEvent): void => {
    previous = eventDigest(event);
    batch.push({ id: uuidv7(Date.now()), metadata: { actor: "system" }, ...event });
  };
  const append = async (): Promise<void> => {
    await store.append(journalStream(journal), batch, revision === -1 ? "none" : revision);
    revision += batch.length;
    batch = [];
  };
  const timeOf = (serving: number): string =>
    new Date(begin + Math.floor(serving / servingsPerEvent)).toISOString();

  for (let done = 0; done < count; done += servingsPerEvent) {
    const columns = new ServingColumns();
    const end = first + Math.min(done + servingsPerEvent, count);
    for (let serving = first + done; serving < end; serving++) {
      columns.add(servingOf(serving, keys), maxEventBytes);
    }
    add({ type: "SynthesesServed", data: columns.build({ at: timeOf(first + done), previous }) });
    if (batch.length === eventsPerAppend) await append();
  }
  add({ type: "JournalClosed", data: { at: timeOf(first + count), previous, reason: "shutdown" } });
  await append();
  return journal;
};

/** Consecutive servings are of distant keys. */
const servingOf = (serving: number, keys: readonly string[]): Serving => ({
  apiKey: keys[(serving * 7_919) % keys.length] ?? "",
  requestId: randomUUID(),
  hash: (serving % hashes).toString(16).padStart(64, "0"),
  characters: 20 + (serving % 100),
  engine: "g1",
  voice: "UK English Female",
  lang: "en-GB",
  format: "mp3",
  cached: "memory",
});
