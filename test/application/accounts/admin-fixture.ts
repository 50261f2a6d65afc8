import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keys as keysProjection } from "../../../projections/keys.ts";
import { createProjectionRunner } from "../../../projections/runner/runner.ts";
import { websites as websitesProjection } from "../../../projections/websites.ts";
import { createKeyHistory, type ReadKeyHistory } from "../../../src/application/accounts/key-history.ts";
import { createKeys, type Keys } from "../../../src/application/accounts/keys.ts";
import {
  createOriginVerification,
  type OriginVerification,
} from "../../../src/application/accounts/origin-verification.ts";
import { createWebsites, type Websites } from "../../../src/application/accounts/websites.ts";
import { createExecuteCommand } from "../../../src/application/execute-command.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { EventStore, NewEvent, RecordedEvent } from "../../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { createUsageReader, totalsByJournal } from "../../../src/ledger/accounts/usage-reader.ts";
import { createCarryOverUsage } from "../../../src/ledger/quota/carry-over.ts";
import { collect } from "../../support/collect.ts";

/** The admin services over a real store in a temporary folder. */
export interface AdminFixture {
  readonly websites: Websites;
  readonly keys: Keys;
  readonly readKeyHistory: ReadKeyHistory;
  readonly originVerification: OriginVerification;
  readonly store: EventStore;
  /** The services' clock; tests may change it. */
  readonly time: { now: number };
  /** Appends an event of another service and waits until the views contain it. */
  append(stream: string, type: string, data: object): Promise<void>;
  read(stream: string): Promise<RecordedEvent[]>;
  close(): Promise<void>;
}

export const openAdminServices = async (): Promise<AdminFixture> => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-admin-"));
  const store = await openSqliteEventStore({ path: join(folder, "events.db") });
  const projections = [websitesProjection, keysProjection];
  const runner = createProjectionRunner({ store, projections });
  await runner.start();
  const time = { now: Date.parse("2026-03-01T12:00:00.000Z") };
  const handler = createCommandHandler({ store });
  const accounts = createUsageReader({ store });
  const parts = {
    execute: createExecuteCommand({ handler, runner }),
    clock: () => time.now,
    random: randomBytes,
  };
  const keys = createKeys({
    ...parts,
    keys: runner.view(keysProjection),
    websiteName: () => undefined,
    countUsage: accounts.countsOf,
    carryOverUsage: createCarryOverUsage(
      handler,
      (...account) => totalsByJournal({ store }, ...account),
      parts.clock,
    ),
  });
  const websites = createWebsites({ ...parts, websites: runner.view(websitesProjection), keys });
  return {
    websites,
    keys,
    readKeyHistory: createKeyHistory({ store }),
    originVerification: createOriginVerification({ ...parts, websites: runner.view(websitesProjection) }),
    store,
    time,
    append: async (stream, type, data) => {
      const event: NewEvent = { id: crypto.randomUUID(), type, data, metadata: { actor: "system" } };
      await runner.waitForPosition((await store.append(stream, [event], "any")).position);
    },
    read: (stream) => collect(store.readStream(stream)),
    close: async () => {
      await runner.close();
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
};
