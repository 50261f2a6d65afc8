import { join } from "node:path";
import { expect } from "chai";
import { writeJournals } from "../../scripts/bench/journals-of-servings.ts";
import { composeCore } from "../../src/bootstrap/core.ts";
import { createLogger } from "../../src/bootstrap/observability.ts";
import { freePlan } from "../../src/domain/accounts/plan.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { noTelemetry } from "../../src/telemetry/telemetry.ts";
import { temporaryFolder } from "../support/service.ts";

describe("the views of accounts", () => {
  it("are caught up without reading a serving, whatever the number of journals", async () => {
    const folder = await temporaryFolder();
    const store = await openSqliteEventStore({ path: join(folder.path, "events.db") });
    await writeJournals(store, { servings: 1_000, keys: ["k1", "k2"], begin: Date.now() });
    await store.close();

    const delivered = new Set<string>();
    const eventStore = (observed: EventStore): EventStore => ({
      ...observed,
      async *readStream(stream, options) {
        delivered.add(stream);
        yield* observed.readStream(stream, options);
      },
      async *subscribe(options) {
        for await (const batch of observed.subscribe(options)) {
          for (const { stream } of batch.events) delivered.add(stream);
          yield batch;
        }
      },
    });
    const settings = readSettings({ DATA_DIR: folder.path });
    const core = await composeCore(settings, createLogger("silent"), {
      telemetry: { ...noTelemetry, eventStore },
    });
    const context = { actor: "cli" };
    const website = await core.websites.register({ name: "Shop", origins: [], plan: freePlan }, context);
    await core.keys.suspend(website.apiKey, "overdue", context);
    await core.close();
    await folder.remove();

    expect(delivered).to.include.all.keys(`website-${website.id}`, `key-${website.apiKey}`);
    expect([...delivered].filter((stream) => /^(journal|quota|rate)-/.test(stream))).to.deep.equal([]);
  });
});
