import { expect } from "chai";
import { createLogger } from "../../src/bootstrap/observability.ts";
import { startAhead } from "../../src/bootstrap/start-ahead.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { helperOptions } from "../../src/subprocess/subprocess-host.ts";
import { withTemporaryFolder } from "../support/child-process.ts";
import { testSettings } from "../support/instance.ts";

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
