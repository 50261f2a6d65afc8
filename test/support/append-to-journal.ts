import { randomUUID } from "node:crypto";
import { eventDigest } from "../../src/domain/ledger/journal/canonical.ts";
import { type JournalEvent, journalStream } from "../../src/domain/ledger/journal/journal.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import type { PostableEvent } from "../../src/ledger/accounts/postings.ts";

/** A journal whose events are appended one by one, without its writer. */
export interface JournalAppender {
  readonly journal: string;
  /** Appends the event with the digest of its predecessor. */
  append(event: JournalEvent): Promise<PostableEvent & { readonly position: number }>;
  close(at: string): Promise<number>;
}

export const createJournalAppender = (store: EventStore, journal: string = randomUUID()): JournalAppender => {
  let revision = -1;
  let previous: string | null = null;
  const append: JournalAppender["append"] = async (event) => {
    const linked = { ...event, data: { ...event.data, previous } } as JournalEvent;
    const newEvent = { id: randomUUID(), ...linked, metadata: {} };
    const expected = revision < 0 ? "none" : revision;
    const end = await store.append(journalStream(journal), [newEvent], expected);
    revision = end.revision;
    previous = eventDigest(linked);
    return { ...linked, revision, position: end.position, digest: previous };
  };
  return {
    journal,
    append,
    close: async (at) => {
      const data = { reason: "silent", at, previous } as const;
      return (await append({ type: "JournalClosed", data })).revision;
    },
  };
};
