import { expect } from "chai";
import { createLogger } from "../../src/bootstrap/observability.ts";
import { composeService } from "../../src/bootstrap/service.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import type { superviseHostProcess } from "../../src/subprocess/supervisor.ts";
import { noTelemetry } from "../../src/telemetry/telemetry.ts";
import { rejection } from "../support/rejection.ts";
import { temporaryFolder } from "../support/service.ts";
import { shareHelper } from "../support/tool-host.ts";

describe("the start of the service", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let steps: string[];

  beforeEach(async () => {
    folder = await temporaryFolder();
    steps = [];
  });
  afterEach(() => folder.remove());

  const superviseHelper: typeof superviseHostProcess = (...given) => {
    steps.push("speech tools start");
    const helper = shareHelper(...given);
    const close = async (): Promise<void> => {
      steps.push("speech tools end");
      await helper.close();
    };
    return { ...helper, close };
  };
  const compose = (openLog: () => void) => {
    const env = { DATA_DIR: folder.path, PORT: "0", VOICES: "classic", VOICE_GALLERY: "off" };
    const eventStore: typeof noTelemetry.eventStore = (store) => {
      steps.push("log opens");
      openLog();
      return store;
    };
    const telemetry = { ...noTelemetry, eventStore };
    return composeService(readSettings(env), createLogger("silent"), { superviseHelper, telemetry });
  };

  it("starts the speech tools before the log is opened, because both take long", async () => {
    await (await compose(() => {})).close();
    expect(steps.slice(0, 2)).to.deep.equal(["speech tools start", "log opens"]);
    expect(steps).to.include("speech tools end");
  });

  it("ends the speech tools if the log cannot be opened", async () => {
    const failure = new Error("the log is damaged");
    const refused = compose(() => {
      throw failure;
    });
    expect(await rejection(refused)).to.equal(failure);
    const once = [...new Set(steps)];
    expect(once).to.deep.equal(["speech tools start", "log opens", "speech tools end"]);
  });
});
