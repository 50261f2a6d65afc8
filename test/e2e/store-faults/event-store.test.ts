import { expect } from "chai";
import { admin, type Credentials, registerWebsite } from "../../support/client.ts";
import { charactersOf, expectRecordedOnce, readSettledLedger } from "./ledger.ts";
import { onOneStage, type Stage } from "./stage.ts";
import { isRefused, isServed, type Outcome, putSteadyLoad, type SteadyLoad } from "./steady-load.ts";

/** Characters of about forty requests. */
const tightQuota = 900;
const isOverQuota = ({ status }: Outcome): boolean => status === 403;

describe("the service under load, with its event store in trouble", () => {
  let stage: Stage;
  onOneStage((opened) => {
    stage = opened;
  });

  /**
   * Puts the load, does the harm, and asks afterwards: the service has healed by itself, the log holds all that was served
   * and nothing twice, no request that was refused with 503 stays charged, no quota was passed, and the views agree with
   * the log. (A service that is killed settles nothing: its callers got no answer at all.)
   */
  const endure = async (harm: (load: SteadyLoad) => Promise<void>): Promise<void> => {
    const tight = await registerWebsite(stage.url, { monthlyCharacters: tightQuota });
    const keys = [await registerWebsite(stage.url), await registerWebsite(stage.url), tight];
    const load = putSteadyLoad(() => stage.url, keys);
    try {
      await load.more(40, isServed);
      await harm(load);
      await load.more(40, isServed);
      await load.more(1, isOverQuota);
      await stage.says("ok");
    } finally {
      await stage.heal();
      await load.stop();
    }
    const { outcomes } = load;
    const ledger = await readSettledLedger(stage.logUrl, outcomes);
    expectRecordedOnce(outcomes, ledger);
    expect(charactersOf(ledger, tight.apiKey)).to.be.within(1, tightQuota);
    for (const key of keys) expect(await counted(key)).to.equal(charactersOf(ledger, key.apiKey));
    for (const { retryAfter } of outcomes.filter(isRefused)) expect(Number(retryAfter)).to.be.within(1, 5);
    expect([...new Set(outcomes.map(({ status }) => status))]).to.not.include(500);
  };

  const counted = async ({ apiKey }: Credentials): Promise<unknown> =>
    ((await admin(stage.url, "GET", `/keys/${apiKey}`)).body.usage as { characters: number }).characters;

  it("serves nothing unrecorded while its connections are cut again and again", () =>
    endure(async (load) => {
      for (let round = 0; round < 6; round++) {
        stage.eventLine.cut();
        await load.more(15);
        stage.eventLine.cutAfter(2_000 * round);
        await load.more(15);
      }
    })).timeout(60_000);

  it("refuses, while the line stands still, what it cannot record in time, and goes on when it moves", () =>
    endure(async (load) => {
      stage.eventLine.freeze();
      await stage.says("down");
      await load.more(8, isRefused);
      stage.eventLine.thaw();
    })).timeout(60_000);

  it("serves late what a slow line records late", () =>
    endure(async (load) => {
      stage.eventLine.slow(30_000);
      await load.more(100);
      stage.eventLine.slow(Number.POSITIVE_INFINITY);
    })).timeout(60_000);

  it("refuses what it cannot record while there is nobody at the other end, and goes on when there is", () =>
    endure(async (load) => {
      await stage.eventLine.down();
      await stage.says("down");
      await load.more(8, isRefused);
      await stage.eventLine.up();
    })).timeout(60_000);

  it("outlives an event store that is killed, whether it comes back at once or late", () =>
    endure(async (load) => {
      await stage.restartEventStore();
      await load.more(40, isServed);
      await stage.restartEventStore(() => load.more(4, isRefused));
    })).timeout(60_000);

  it("has recorded, when it is killed itself, whatever it served", () =>
    endure(async (load) => {
      for (let round = 0; round < 2; round++) {
        await stage.restartService();
        await load.more(40, isServed);
      }
    })).timeout(60_000);
});
