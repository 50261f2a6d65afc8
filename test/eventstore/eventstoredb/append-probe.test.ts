import { expect } from "chai";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { createAppendProbe } from "../../../src/eventstore/eventstoredb/append-probe.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";

const appended = { revision: 0, position: 0 };

describe("the append probe", () => {
  let time: ManualTime;
  let probes: number;
  let outcome: () => Promise<unknown>;
  beforeEach(() => {
    time = createManualTime();
    probes = 0;
    outcome = async () => appended;
  });
  const open = () =>
    createAppendProbe(() => {
      probes += 1;
      return outcome();
    }, time);

  it("appends at most once in 2 seconds, however often it is checked", async () => {
    const probe = open();
    for (let checks = 0; checks < 100; checks++) {
      await Promise.all([probe.check(), probe.check()]);
      time.advance(100);
    }
    expect(probes).to.equal(5);
  });

  it("appends nothing after a recent successful append", async () => {
    const probe = open();
    await probe.observe(Promise.resolve(appended));
    await probe.check();
    expect(probes).to.equal(0);
  });

  it("ignores an earlier success while an append has no response", async () => {
    const probe = open();
    void probe.observe(new Promise(() => {}));
    await probe.observe(Promise.resolve(appended));
    time.advance(1_000);
    outcome = () => Promise.reject(new EventStoreUnavailable("no answer"));
    expect(await rejection(probe.check())).to.be.instanceOf(EventStoreUnavailable);
  });

  it("ignores an earlier success after a failed append", async () => {
    const probe = open();
    await probe.observe(Promise.resolve(appended));
    const failed = probe.observe(Promise.reject(new EventStoreUnavailable("gone")));
    expect(await rejection(failed)).to.be.instanceOf(EventStoreUnavailable);
    await probe.check();
    expect(probes).to.equal(1);
  });
});
