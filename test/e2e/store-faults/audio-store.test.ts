import { expect } from "chai";
import { bytesOf, type Credentials, registerWebsite, synthesize } from "../../support/client.ts";
import { expectKept } from "./bucket.ts";
import { expectRecordedOnce, readLedger } from "./ledger.ts";
import { bucket, onOneStage, type Stage } from "./stage.ts";
import { isServed, type Outcome, putSteadyLoad, type SteadyLoad } from "./steady-load.ts";

const isMade = (outcome: Outcome): boolean => isServed(outcome) && outcome.cached === "miss";
const voice = "UK English Female";

describe("the service under load, with its audio store in trouble", () => {
  let stage: Stage;
  let keys: Credentials[];
  onOneStage((opened) => {
    stage = opened;
  });
  before(async () => {
    keys = [await registerWebsite(stage.url), await registerWebsite(stage.url)];
  });

  /**
   * Puts the load and does the harm: everybody is answered all the same, each object comes to lie in the bucket, whole and
   * as it was heard, and the log holds every answer once.
   */
  const endure = async (harm: (load: SteadyLoad) => Promise<void>): Promise<void> => {
    const load = putSteadyLoad(() => stage.url, keys, "much that is new");
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
    expectRecordedOnce(load.outcomes, await readLedger(stage.logUrl));
  };

  it("goes on speaking while its connections are cut again and again", () =>
    endure(async (load) => {
      for (let round = 0; round < 6; round++) {
        stage.soundLine.cut();
        await load.more(2, isMade);
        stage.soundLine.cutAfter(100 * round);
        await load.more(2, isMade);
      }
    })).timeout(60_000);

  it("goes on speaking while the line stands still, and keeps what it made when it moves", () =>
    endure(async (load) => {
      stage.soundLine.freeze();
      await stage.says("degraded");
      await load.more(8, isMade);
      stage.soundLine.thaw();
    })).timeout(60_000);

  it("goes on speaking over a slow line", () =>
    endure(async (load) => {
      stage.soundLine.slow(20_000);
      await load.more(8, isMade);
      stage.soundLine.slow(Number.POSITIVE_INFINITY);
    })).timeout(60_000);

  it("goes on speaking while there is nobody at the other end, and keeps what it made when there is", () =>
    endure(async (load) => {
      await stage.minio.kill();
      await stage.says("degraded");
      await load.more(8, isMade);
      await stage.minio.restart();
    })).timeout(60_000);
});

describe("the service whose audio store was well until now", () => {
  let stage: Stage;
  onOneStage((opened) => {
    stage = opened;
  });

  it("answers from memory at once while another request waits for a store that stands still", async () => {
    const website = await registerWebsite(stage.url);
    const known = { voice, text: "Known by heart." };
    const byHeart = await bytesOf(await synthesize(stage.url, website, known));
    stage.soundLine.freeze();
    let isThere = false;
    const waiting = synthesize(stage.url, website, { voice, text: "Asked of the store first." });
    void waiting.then(() => {
      isThere = true;
    });
    for (let n = 0; n < 10; n++) {
      const answer = await synthesize(stage.url, website, known);
      expect(answer.headers.get("svc-cached")).to.equal("memory");
      expect((await bytesOf(answer)).equals(byHeart)).to.equal(true);
    }
    expect(isThere).to.equal(false);
    stage.soundLine.thaw();
    expect((await waiting).status).to.equal(200);
  }).timeout(30_000);
});
