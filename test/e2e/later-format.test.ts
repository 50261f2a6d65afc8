import { expect } from "chai";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";
import { withTemporaryFolder } from "../support/child-process.ts";
import { bytesOf, registerWebsite, synthesize } from "../support/client.ts";
import { failToStart, startInstance } from "../support/instance.ts";
import { until } from "../support/processes.ts";
import { streamsAfter } from "../support/streams-after.ts";

describe("a running instance, when a later version changes the log's format", () => {
  it("records nothing from then on, and exits with code 1 and one line; it cannot be started again", () =>
    withTemporaryFolder(async (folder) => {
      const path = `${folder}/events.db`;
      const settings = { EVENT_STORE: `sqlite:${path}`, DRAIN_SECONDS: "1" };
      const service = await startInstance(folder, settings);
      const website = await registerWebsite(service.url);
      const spoken = await synthesize(service.url, website, { voice: "UK English Female", text: "One." });
      expect(spoken.status).to.equal(200);
      await bytesOf(spoken);

      const store = await openSqliteEventStore({ path });
      const data = { format: 4, version: "0.9.0", at: new Date().toISOString() };
      const { position } = await store.append(
        "log",
        [{ id: uuidv7(Date.now()), type: "LogFormatRecorded", data, metadata: {} }],
        "any",
      );
      const line =
        "voxledger: the log has format 4, and this version reads the formats 2 and 3: start Voxledger 0.9.0 or a later version\n";
      await until("the instance reports the format", () => service.log.includes(line));
      expect(await service.stop()).to.equal(1);
      expect(await streamsAfter(store, position)).to.deep.equal([]);
      await store.close();

      const { code, stderr } = await failToStart({ PORT: "0", DATA_DIR: folder, ...settings });
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: line.replace(": the", ": EVENT_STORE: the"),
      });
    }));
});
