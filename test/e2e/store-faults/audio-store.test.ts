import { expect } from "chai";
import { bytesOf, type Credentials, registerWebsite, synthesize } from "../../support/client.ts";
import { expectKept } from "./bucket.ts";
import { expectRecordedOnce, readServings, readSettledLedger } from "./ledger.ts";
import { bucket, onOneStage, type Stage } from "./stage.ts";
import { isRefused, isServed, type Outcome, putSteadyLoad, type SteadyLoad } from "./steady-load.ts";

const isMade = (outcome: Outcome): boolean => isServed(outcome) && outcome.cached === "miss";
const voice = "UK English Female";

describe("The service under load, with a failing audio store", () => {
  let stage: Stage;
  let keys: Credentials[];
  onOneStage((opened) => {
    stage = opened;
  });
  before(async () => {
    keys = [await registerWebsite(stage.url), await registerWebsite(stage.url)];
  });

  /**
   * Applies the load and the fault: every request succeeds, each object is eventually in the
   * bucket, complete and as delivered, and the log has every response once.
   */
  const endure = async (harm: (load: SteadyLoad) => Promise<void>): Promise<void> => {
    const load = putSteadyLoad(() => stage.url, keys, "many new texts");
    try {
      await load.more(5, isMade);
      await harm(load);
      await load.more(5, isMade);
      await stage.says("ok");
    } finally {
      await stage.heal();
      await load.stop();
    }
    expect(load.outcomes.filter((outcome) => !isServed(outcome))).to.deep.equal([]);
    await expectKept(load.outcomes, stage.minio.location(bucket));
    expectRecordedOnce(load.outcomes, await readServings(stage.logUrl));
  };

  it("synthesizes while its connections are reset again and again", () =>
    endure(async (load) => {
      for (let round = 0; round < 6; round++) {
        stage.soundLine.cut();
        await load.more(2, isMade);
        stage.soundLine.cutAfter(100 * round);
        await load.more(2, isMade);
      }
    }));

  it("synthesizes while its connections are frozen, and stores the objects when they resume", () =>
    endure(async (load) => {
      stage.soundLine.freeze();
      await stage.says("degraded");
      await load.more(8, isMade);
      stage.soundLine.thaw();
    }));

  it("synthesizes over a slow connection", () =>
    endure(async (load) => {
      stage.soundLine.slow(20_000);
      await load.more(8, isMade);
      stage.soundLine.slow(Number.POSITIVE_INFINITY);
    }));

  it("synthesizes while the store is down, and stores the objects when it is back", () =>
    endure(async (load) => {
      await stage.minio.kill();
      await stage.says("degraded");
      await load.more(8, isMade);
      await stage.minio.restart();
    }));

  it("responds from memory at once while another request waits for the frozen store", async () => {
    const [website] = keys as [Credentials];
    const known = { voice, text: "Known by heart." };
    const byHeart = await bytesOf(await synthesize(stage.url, website, known));
    stage.soundLine.freeze();
    let isThere = false;
    const waiting = synthesize(stage.url, website, { voice, text: "Asked of the store first." });
    void waiting.then(() => {
      isThere = true;
    });
    try {
      const responses = await Promise.all(
        Array.from({ length: 10 }, () => synthesize(stage.url, website, known)),
      );
      expect(isThere).to.equal(false);
      for (const response of responses) {
        expect(response.headers.get("svc-cached")).to.equal("memory");
        expect((await bytesOf(response)).equals(byHeart)).to.equal(true);
      }
    } finally {
      stage.soundLine.thaw();
    }
    expect((await waiting).status).to.equal(200);
  });

  it("serves nothing unrecorded and loses no object when the event store fails too, and recovers without intervention", async () => {
    const lines = [stage.eventLine, stage.soundLine];
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
