import { expect } from "chai";
import { registerWebsite } from "../../support/client.ts";
import { expectKept } from "./bucket.ts";
import { expectRecordedOnce, readSettledLedger } from "./ledger.ts";
import { bucket, onOneStage, type Stage } from "./stage.ts";
import { isRefused, isServed, putSteadyLoad } from "./steady-load.ts";

describe("The service under load, with both stores failing", () => {
  let stage: Stage;
  onOneStage((opened) => {
    stage = opened;
  });

  it("serves nothing unrecorded, loses no object, and recovers without intervention", async () => {
    const lines = [stage.eventLine, stage.soundLine];
    const keys = [await registerWebsite(stage.url), await registerWebsite(stage.url)];
    const load = putSteadyLoad(() => stage.url, keys, "many new texts");
    try {
      await load.more(20, isServed);
      for (const line of lines) line.cut();
      await load.more(20, isServed);
      for (const line of lines) line.freeze();
      await load.more(4, isRefused);
      for (const line of lines) line.thaw();
      await load.more(20, isServed);
      await Promise.all(lines.map((line) => line.down()));
      await load.more(4, isRefused);
      await Promise.all(lines.map((line) => line.up()));
      await load.more(20, isServed);
      await stage.says("ok");
    } finally {
      await stage.heal();
      await load.stop();
    }
    const unlike = load.outcomes.filter((outcome) => !isServed(outcome) && !isRefused(outcome));
    expect(unlike).to.deep.equal([]);
    expectRecordedOnce(load.outcomes, await readSettledLedger(stage.logUrl, load.outcomes));
    await expectKept(load.outcomes, stage.minio.location(bucket));
  });
});
