import { journalPrefix, type SynthesesServed } from "../../src/domain/ledger/journal/journal.ts";
import type { EventStore, RecordedEvent } from "../../src/eventstore/event-store.ts";

/** What the clients of a load have seen. */
export interface Load {
  /** Complete responses. */
  served: number;
  /** The largest number of requests that may have been in flight when a load ended. */
  cutOff: number;
}

/**
 * Compares the ledger with the received responses: it has each of them once, and in addition at
 * most the requests that were cut off.
 * @throws if it differs
 */
export const checkServings = async (store: EventStore, { served, cutOff }: Load): Promise<void> => {
  const requestIds = new Set<string>();
  let recorded = 0;
  for await (const { events, caughtUp } of store.subscribe({ prefixes: [journalPrefix] })) {
    for (const requestId of events.flatMap(requestIdsOf)) {
      requestIds.add(requestId);
      recorded += 1;
    }
    if (caughtUp) break;
  }
  if (requestIds.size < recorded)
    throw new Error(`${recorded - requestIds.size} servings are recorded twice`);
  if (recorded < served || recorded > served + cutOff)
    throw new Error(`${served} responses were received, but the ledger holds ${recorded}`);
};

const requestIdsOf = ({ type, data }: RecordedEvent): readonly string[] =>
  type === "SynthesesServed" ? (data as SynthesesServed).requestIds : [];
