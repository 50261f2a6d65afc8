import { randomUUID } from "node:crypto";
import { EventStoreDBClient } from "@eventstore/db-client";
import { expect } from "chai";
import { userProjections } from "../../../projections/eventstoredb/user-projections.ts";
import { installUserProjections } from "../../../src/application/user-projections/install.ts";
import {
  isComplete,
  readUserProjectionStatuses,
} from "../../../src/application/user-projections/statuses.ts";
import { catalogStream, initialCatalog, seedCatalog } from "../../../src/domain/catalog/catalog.ts";
import { releaseSeed } from "../../../src/domain/catalog/seed/seed.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openProjectionServer } from "../../../src/eventstore/eventstoredb/projection-server.ts";
import { prefixedEventStore } from "../../../src/eventstore/prefixed-event-store.ts";
import { uuidv7 } from "../../../src/eventstore/uuid.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";

/**
 * A real server, possibly shared, whose user may manage projections; otherwise a test node. On a
 * slow server, the test needs its own `--timeout`.
 */
const shared = process.env.EVENT_STORE_TEST_URL;
const at = "2026-11-28T10:00:00.000Z";

describe(`the projections of an installation on ${shared ? "EVENT_STORE_TEST_URL" : "a test node"}`, () => {
  it("read the voices of a release, and are removed when a later version has read them", async () => {
    const node = shared ? undefined : await startEventStoreDBNode();
    const url = shared ?? node?.url ?? "";
    const prefix = `test-${randomUUID().slice(0, 8)}`;
    const server = openProjectionServer(url);
    const client = EventStoreDBClient.connectionString(url);
    const opened = await openEventStoreDB({ url, appendTimeoutMs: 15_000 });
    const names = (await userProjections(prefix)).map(({ name }) => name);
    try {
      const seed = seedCatalog(initialCatalog(), releaseSeed(), at);
      const events = seed.map((event) => ({ ...event, id: uuidv7(Date.now()), metadata: {} }));
      await prefixedEventStore(opened, prefix).append(catalogStream, events, "none");
      const wanted = await userProjections(prefix);
      const installed = await installUserProjections(server, wanted);
      expect(installed.map(({ name, state, reason }) => ({ name, state, reason }))).to.deep.equal(
        names.map((name) => ({ name, state: "running", reason: undefined })),
      );
      expect((await readUserProjectionStatuses(server, names)).every(isComplete)).to.equal(true);
      const [voice = { name: "" }] = seed.flatMap((one) => (one.type === "VoiceAdded" ? one.data.voice : []));
      const state = await client.getProjectionState(names[0] ?? "", { partition: `voice-${voice.name}` });
      expect(state).to.deep.include({ entry: voice, updatedAt: at });
      const later = wanted.slice(0, 1).map(({ family, query }) => ({ name: `${family}4`, family, query }));
      expect(await installUserProjections(server, later)).to.deep.include({
        name: names[0],
        done: "removed",
        state: "absent",
      });
      names.push(...later.map(({ name }) => name));
    } finally {
      for (const name of names) {
        if (!(await server.find(name))) continue;
        await server.disable(name);
        while ((await server.find(name))?.state === "changing");
        await server.remove(name);
      }
      await Promise.all([server.close(), client.dispose(), opened.close()]);
      await node?.close();
    }
  }).timeout(600_000);
});
