import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { createLogger } from "../../src/bootstrap/observability.ts";
import { startAhead, startEventStoreThreads } from "../../src/bootstrap/start-ahead.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { helperOptions } from "../../src/subprocess/subprocess-host.ts";
import { withTemporaryFolder } from "../support/child-process.ts";
import { testSettings } from "../support/instance.ts";
import { rejection } from "../support/rejection.ts";

describe("the process of the speech tools that is started ahead", () => {
  it("is the one that the service asks for, and no other", () =>
    withTemporaryFolder(async (folder) => {
      const settings = readSettings({ ...testSettings, DATA_DIR: folder });
      const { superviseHelper, close } = await startAhead(settings, createLogger("silent"));
      try {
        const options = helperOptions({ concurrency: settings.synthesisConcurrency });
        const helper = superviseHelper(options, () => {});
        await helper.current();
        expect(helper.stats().restarts).to.equal(0);
        expect(() => superviseHelper({ ...options, speakers: 99 }, () => {})).to.throw("other options");
      } finally {
        await close();
      }
    }));
});

describe("the threads of a worker's event store", () => {
  it("create no log where that of the service has been moved away", () =>
    withTemporaryFolder(async (folder) => {
      const settings = readSettings({ ...testSettings, DATA_DIR: join(folder, "data") });
      const writer = { call: async () => expect.fail("nothing is written"), close: async () => {} };
      expect(await rejection(startEventStoreThreads(settings, writer)))
        .to.have.property("message")
        .that.matches(/^EVENT_STORE: .* no such file/);
      expect(await readdir(folder)).to.deep.equal([]);
    }));
});
