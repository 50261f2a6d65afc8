import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { admin, type Credentials, registerWebsite } from "../../support/client.ts";
import { charactersOf, expectRecordedOnce, readSettledLedger } from "./ledger.ts";
import { onOneStage, type Stage } from "./stage.ts";
import { isRefused, isServed, type Outcome, putSteadyLoad, type SteadyLoad } from "./steady-load.ts";

/** The characters of about forty requests. */
const tightQuota = 900;
const isOverQuota = ({ status }: Outcome): boolean => status === 403;

describe("The service under load, with a failing event store", () => {
  let stage: Stage;
  onOneStage((opened) => {
    stage = opened;
  });

  /**
   * Applies the load and the fault, and checks afterwards: the service has recovered, the log has
   * every response exactly once, no request that was refused with 503 remains charged, no quota was
   * exceeded, and the views agree with the log. (After SIGKILL, requests in flight remain
   * unsettled: their callers got no response.)
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

  /** The characters that the service reports, as soon as it can read them again. */
  const counted = async ({ apiKey }: Credentials): Promise<unknown> => {
    for (;;) {
      const { status, body } = await admin(stage.url, "GET", `/keys/${apiKey}`);
      if (status === 200) return (body.usage as { characters: number }).characters;
      expect(status).to.equal(503);
      await delay(100);
    }
  };

  it("serves nothing unrecorded while its connections are reset again and again", () =>
    endure(async (load) => {
      for (let round = 0; round < 6; round++) {
        stage.eventLine.cut();
        await load.more(15);
        stage.eventLine.cutAfter(2_000 * round);
        await load.more(15);
      }
    }));

  it("refuses requests that it cannot record in time while its connections are frozen, and resumes afterwards", () =>
    endure(async (load) => {
      stage.eventLine.freeze();
      await stage.says("down");
      await load.more(8, isRefused);
      stage.eventLine.thaw();
    }));

  it("delays responses over a slow connection until they are recorded", () =>
    endure(async (load) => {
      stage.eventLine.slow(30_000);
      await load.more(100);
      stage.eventLine.slow(Number.POSITIVE_INFINITY);
    }));

  it("refuses requests that it cannot record while the event store is down, and resumes afterwards", () =>
    endure(async (load) => {
      await stage.eventLine.down();
      await stage.says("down");
      await load.more(8, isRefused);
      await stage.eventLine.up();
    }));

  it("recovers after SIGKILL of the event store, whether it restarts at once or late", () =>
    endure(async (load) => {
      await stage.restartEventStore();
      await load.more(40, isServed);
      await stage.restartEventStore(() => load.more(4, isRefused));
    }));

  it("has recorded every delivered response when it is itself killed", () =>
    endure(async (load) => {
      for (let round = 0; round < 2; round++) {
        await stage.restartService();
        await load.more(40, isServed);
      }
    }));
});
