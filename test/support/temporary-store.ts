import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";

export interface TemporaryStore {
  readonly store: EventStore;
  /** A temporary directory that is removed on close. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** A real event store in a temporary directory. `clock`: milliseconds since the epoch. */
export const openTemporaryStore = async (clock = Date.now): Promise<TemporaryStore> => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-test-"));
  const store = await openSqliteEventStore({ path: join(folder, "events.db"), clock });
  return {
    store,
    folder,
    remove: async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
