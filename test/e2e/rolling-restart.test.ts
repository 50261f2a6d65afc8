import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { admin, registerWebsite } from "../support/client.ts";
import { seededRandom } from "../support/eventstoredb-node/index-lag.ts";
import type { RunningService } from "../support/instance.ts";
import { checkOut, lacksHistory } from "../support/previous-version.ts";
import { isSample } from "../support/sample.ts";
import { checkAccounts, checkReports, settleJournals } from "./kill-rounds/books.ts";
import { type Deployment, openDeployment } from "./kill-rounds/deployment.ts";
import { type LimitedKey, nothingObserved, type RunningLoad, startLoad } from "./kill-rounds/load.ts";
import { createRecordedServings } from "./kill-rounds/recorded-servings.ts";

const previousCommit = "cf828b1";
/** Responses of each version before, during and after a time in which both serve. */
const responsesPerPhase = isSample ? 30 : 100;
const quotas = [null, 700, 3_000, 10_000_000];

const seed = Number(process.env.TEST_SEED ?? 1);

describe(`a rolling restart from ${previousCommit} to this version`, () => {
  let checkout: Awaited<ReturnType<typeof checkOut>> | undefined;
  let deployment: Deployment;
  let running: RunningService[];

  before(async function () {
    // A shallow clone has no earlier version.
    if (await lacksHistory()) {
      console.warn(`not tested: this clone lacks ${previousCommit}; fetch the whole history`);
      this.skip();
    }
    checkout = await checkOut(previousCommit);
  });
  after(() => checkout?.remove());
  beforeEach(() => {
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((service) => service.kill()));
    await deployment.remove();
  });

  /** All instances have the same DATA_DIR. */
  const start = async (version: "previous" | "this"): Promise<RunningService> => {
    const service = await deployment.start(0, version === "previous" ? checkout?.path : undefined);
    running.push(service);
    return service;
  };
  const stop = async (service: RunningService): Promise<void> => {
    running = running.filter((one) => one !== service);
    expect(await service.stop(), "its exit code").to.equal(0);
  };
  const untilKnown = async ({ url }: RunningService, keys: readonly LimitedKey[]): Promise<void> => {
    for (const { apiKey } of keys)
      while ((await admin(url, "GET", `/keys/${apiKey}`)).status !== 200) await delay(10);
  };

  for (const kind of ["sqlite", "eventstoredb"] as const) {
    it(`and back loses and doubles no serving, exceeds no quota, and its log is genuine (${kind}, seed ${seed})`, async () => {
      deployment = await openDeployment(kind);
      const recorded = createRecordedServings(deployment.store);
      const observed = nothingObserved();
      const random = seededRandom(seed);
      let serving = await start("previous");
      const keys: LimitedKey[] = [];
      for (const quota of quotas)
        keys.push({ ...(await registerWebsite(serving.url, { monthlyCharacters: quota })), quota });
      const statuses = { previous: new Map<number, number>(), this: new Map<number, number>() };
      const loadOn = ({ url }: RunningService, version: "previous" | "this"): RunningLoad =>
        startLoad({ urls: [url], keys, random, observed: { ...observed, statuses: statuses[version] } });

      for (const version of ["this", "previous"] as const) {
        const load = loadOn(serving, version === "this" ? "previous" : "this");
        await load.more(responsesPerPhase);
        const next = await start(version);
        await untilKnown(next, keys);
        const nextLoad = loadOn(next, version);
        await nextLoad.more(responsesPerPhase);
        // One after the other: the probes of two processes replace each other, which version 0.1.0
        // cannot measure by.
        await deployment.seal(checkout?.path);
        await deployment.seal();
        await Promise.all([stop(serving), load.stop()]);
        await nextLoad.more(responsesPerPhase);
        await nextLoad.stop();
        await checkReports(next.url, keys, recorded);
        serving = next;
      }
      await stop(serving);

      await settleJournals(deployment.store);
      await recorded.readOn();
      recorded.check(observed);
      for (const { apiKey, quota } of keys) recorded.checkQuota(apiKey, quota);
      await checkAccounts(deployment.store, keys, recorded);
      await deployment.verify();
      const failures = (version: "previous" | "this"): number[] =>
        [...statuses[version].keys()].filter((status) => status >= 400 && status !== 403);
      expect(failures("this")).to.deep.equal([]);
      // The previous version refuses repeats of requests with an Idempotency-Key that this one has
      // charged.
      expect(failures("previous").filter((status) => status !== 400)).to.deep.equal([]);
    });
  }
});
