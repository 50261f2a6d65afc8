import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { prefixedEventStore } from "../../src/eventstore/prefixed-event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { validatedEventStore } from "../../src/eventstore/validated-event-store.ts";
import { instrumentEventStore } from "../../src/telemetry/decorators/event-log.ts";
import { createInstruments } from "../../src/telemetry/instruments.ts";
import { event } from "../contracts/event-store/events.ts";
import { eventStoreContract } from "../contracts/event-store.ts";
import { scopedStore } from "../support/scoped-store.ts";

const instrumented = instrumentEventStore(createInstruments());

// Decorators keep the contract of the store. They are nested as in the service
// (src/bootstrap/event-log).
describe("the decorators of the event store", () => {
  let folder: string;
  let now = Date.UTC(2026, 0, 1);
  /** One log, which the rules share: to open a store starts two threads. */
  let log: EventStore | undefined;
  let rules = 0;
  const open = () => openSqliteEventStore({ path: join(folder, "events.db"), clock: () => now });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-events-"));
  });
  after(async () => {
    await log?.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const prefix of ["", "a_B-9"]) {
    eventStoreContract(`validated, instrumented, with the stream prefix "${prefix}", on SQLite`, async () => {
      const scope = `rule-${++rules}`;
      now += 3_600_000; // later than every event in the log, even if the last rule has set the clock back
      log ??= await open();
      const shared = log;
      const { position } = await prefixedEventStore(shared, scope).append("beginning", [event()], "none");
      const decorate = (store: EventStore) =>
        validatedEventStore(instrumented(prefixedEventStore(scopedStore(store, scope, position), prefix)));
      const store = decorate(shared);
      const close = async () => {
        if (log === shared) log = undefined;
        await store.close();
      };
      return {
        store: { ...store, close },
        again: async () => decorate(await open()),
        advance: (milliseconds) => {
          now += milliseconds;
        },
        end: async () => {},
      };
    });
  }
});
