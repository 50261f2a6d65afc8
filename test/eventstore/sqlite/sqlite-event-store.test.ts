import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { eventStoreContract } from "../../contracts/event-store.ts";

eventStoreContract("sqlite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-events-"));
  let now = Date.UTC(2026, 0, 1);
  const open = () => openSqliteEventStore({ path: join(folder, "events.db"), clock: () => now });
  const store = await open();
  return {
    store,
    again: open,
    advance: (milliseconds) => {
      now += milliseconds;
    },
    end: async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});
