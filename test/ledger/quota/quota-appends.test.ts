import { expect } from "chai";
import { quotaPrefix } from "../../../src/domain/ledger/quota/quota.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import type { OpenLedger } from "../../../src/ledger/open-ledger.ts";
import { duringTest } from "../../support/during.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { testPrincipal } from "../../support/principal.ts";
import { servedAudio } from "../../support/served-audio.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, record } from "../../support/test-ledger.ts";

const clock = () => Date.parse("2026-11-21T10:00:00.000Z");
const quota = 20_000;
const characters = 25;
const keys = ["k-1", "k-2", "k-3", "k-4"];
const principal = (apiKey: string) => testPrincipal({ apiKey, monthlyCharacters: quota });

describe("The ledger's appends to quota streams", () => {
  const temporary = duringTest(openTemporaryStore);
  let time: ManualTime;
  let instances: OpenLedger[];
  let appends: Map<string, number>;

  /** Counts appends by instance and stream. */
  const counting = (store: EventStore, instance: number): EventStore => ({
    ...store,
    append: (stream, ...rest) => {
      const name = `${instance} ${stream}`;
      if (stream.startsWith(quotaPrefix)) appends.set(name, (appends.get(name) ?? 0) + 1);
      return store.append(stream, ...rest);
    },
  });

  beforeEach(async () => {
    time = createManualTime();
    appends = new Map();
    instances = await Promise.all(
      [0, 1].map((instance) => openTestLedger(counting(temporary.store, instance), clock, { time })),
    );
  });
  afterEach(async () => {
    // One after the other: no conflicts, whose retries would wait for the manual clock.
    for (const instance of instances) await instance.close(1_000);
  });

  const speak = async (instance: number, apiKey: string, n: number): Promise<void> => {
    const { ledger } = instances[instance] as OpenLedger;
    await record(ledger, principal(apiKey), servedAudio({ requestId: `${apiKey}-${n}`, characters }));
  };

  it("are at most one per key, instance and 5 % of the quota, until the quota is used up", async () => {
    for (let n = 0; n < quota / characters; n += 4) {
      const atOnce = keys.flatMap((key) => [0, 1, 2, 3].map((add) => speak(add % 2, key, n + add)));
      await Promise.all(atOnce);
    }
    expect(appends.size).to.equal(keys.length * instances.length);
    expect(Math.max(...appends.values())).to.be.at.most(20);
  });

  it("are one for the reservation and one for the return of a key that becomes idle", async () => {
    await Promise.all(keys.map((key) => speak(0, key, 0)));
    expect([...appends.values()]).to.deep.equal(keys.map(() => 1));
    for (let minute = 0; minute < 5; minute++) {
      for (let check = 0; check < 6; check++) time.advance(10_000);
      await until(() => [...appends.values()].every((count) => minute === 0 || count === 2));
    }
    expect([...appends.values()]).to.deep.equal(keys.map(() => 2));
  });

  it("stay the same few for a key that is used every 70 seconds", async () => {
    // It would close the journal: the store's clock does not advance with this one.
    await instances[1]?.close(1_000);
    for (let n = 0; n < 40; n++) {
      await speak(0, "k-1", n);
      for (let check = 0; check < 7; check++) time.advance(10_000);
    }
    // A reservation, its return after the first idle minute, and another reservation, which is not
    // idle before four minutes.
    expect(appends.get("0 quota-k-1-2026-11")).to.be.at.most(4);
  });
});
