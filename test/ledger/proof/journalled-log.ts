import { randomUUID } from "node:crypto";
import { eventDigest } from "../../../src/domain/ledger/journal/canonical.ts";
import { journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../../src/domain/ledger/journal/journal-registry.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";

/** Writes journals as processes do, with times that increase by a second per event. */
export const createJournalledLog = (store: EventStore, start = "2026-11-05T10:00:00.000Z") => {
  const ends = new Map<string, { revision: number; digest: string | null }>();
  let open: string[] = [];
  let seconds = 0;

  const now = (): string => new Date(Date.parse(start) + 1_000 * seconds).toISOString();
  const append = async (
    stream: string,
    type: string,
    data: object,
    id: string = randomUUID(),
  ): Promise<void> => {
    seconds += 1;
    const event = { id, type, data: { ...data, at: now() }, metadata: { actor: "system" } };
    await store.append(stream, [event], "any");
  };
  const extend = async (journal: string, type: string, data: object): Promise<void> => {
    seconds += 1;
    const { revision, digest } = ends.get(journal) ?? { revision: -1, digest: null };
    const event = { type, data: { ...data, previous: digest, at: now() } };
    await store.append(
      journalStream(journal),
      [{ id: randomUUID(), ...event, metadata: { actor: "system" } }],
      revision < 0 ? "none" : revision,
    );
    ends.set(journal, { revision: revision + 1, digest: eventDigest(event) });
  };

  return {
    now,
    append,
    extend,
    get open(): readonly string[] {
      return open;
    },
    openJournal: async (journal: string): Promise<void> => {
      open = [...open, journal];
      await append(journalRegistryStream, "JournalOpened", { journal, open });
    },
    serve: (journal: string, apiKey: string, characters: readonly number[]): Promise<void> =>
      extend(journal, "SynthesesServed", {
        keys: [apiKey],
        sounds: [
          { hash: "5".repeat(64), engine: "g1", voice: "US English Female", lang: "en-US", format: "mp3" },
        ],
        requestIds: characters.map(() => randomUUID()),
        key: characters.map(() => 0),
        sound: characters.map(() => 0),
        characters,
        cached: characters.map(() => "memory"),
      }),
    close: (journal: string): Promise<void> => extend(journal, "JournalClosed", { reason: "shutdown" }),
    retire: async (journal: string): Promise<void> => {
      open = open.filter((one) => one !== journal);
      await append(journalRegistryStream, "JournalRetired", { journal, open });
    },
  };
};

export type JournalledLog = ReturnType<typeof createJournalledLog>;
