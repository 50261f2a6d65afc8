import { join } from "node:path";
import { expect } from "chai";
import type { MachineClocks, TimeSource } from "../../../src/application/clock/clock-check.ts";
import { createBootRecord } from "../../../src/bootstrap/clock/boot-record.ts";
import { composeClock, isOnOtherMachine, kernelClock } from "../../../src/bootstrap/clock/service-clock.ts";
import { readSettings } from "../../../src/settings/read-settings.ts";
import { duringTest } from "../../support/during.ts";
import { temporaryFolder } from "../../support/service.ts";

const day = 24 * 3_600_000;

describe("the clock of a machine", () => {
  const folder = duringTest(temporaryFolder);
  let time: { wall: number; uptime: number };
  let clocks: MachineClocks;

  beforeEach(async () => {
    time = { wall: Date.parse("2026-11-05T10:00:00.000Z"), uptime: 1_000 };
    clocks = { clock: () => time.wall, uptime: () => time.uptime };
  });

  const pass = (ms: number): void => {
    time.wall += ms;
    time.uptime += ms;
  };
  const open = (...sources: TimeSource[]) =>
    composeClock(readSettings({ DATA_DIR: join(folder.path, "data") }), () => {}, {
      ...clocks,
      sources,
      keepsRecord: true,
    });
  const source = (ahead: number | undefined): TimeSource => ({
    name: "a source",
    difference: async () => ahead,
  });

  it("that was set is still wrong for the next process, until the machine is started again", async () => {
    expect((await open()).clockCheck.isWrong()).to.equal(false);
    pass(3_600_000);
    time.wall += 92 * day;
    const { clockCheck, clock } = await open();
    expect(clockCheck.isWrong()).to.equal(true);
    expect(clock()).to.equal(time.wall - 92 * day);
    const agreement = createBootRecord(join(folder.path, "data"), "another start").agreement;
    expect(agreement).to.equal(undefined);
  });

  it("is right again when a second source agrees with it", async () => {
    let ahead: number | undefined;
    const { clockCheck, clock } = await open({ name: "a source", difference: async () => ahead });
    time.wall += 2 * 3_600_000; // a virtual machine that was paused
    await clockCheck.check();
    expect(clockCheck.isWrong()).to.equal(true);
    ahead = 300;
    pass(10_000);
    await clockCheck.check();
    expect(clockCheck.isWrong()).to.equal(false);
    expect(clock()).to.equal(time.wall);
  });

  it("is wrong from the start if a source says so, and the first source that knows the time decides", async () => {
    const { clockCheck } = await open(source(undefined), source(-120_000), source(0));
    expect(() => clockCheck.requireRightClock()).to.throw(
      "the clock of this machine is 120.0 s ahead of that of a source",
    );
  });

  it("may be wrong by a part of the time since the last agreement, because corrections in small steps are legitimate", async () => {
    const { clockCheck } = await open();
    pass(10 * day);
    for (let minutes = 1; minutes <= 16; minutes++) {
      time.wall += 60_000;
      await clockCheck.check();
      expect(clockCheck.isWrong(), `${minutes} minutes`).to.equal(minutes > 15);
    }
  });

  it("was set if it jumps by more than 60 s, however long the machine has run", async () => {
    const { clockCheck, clock } = await open();
    pass(10 * day);
    await clockCheck.check();
    const before = clock();
    time.wall += 61_000;
    expect(clock()).to.equal(before);
    expect(() => clockCheck.requireRightClock()).to.throw("set forward by 61.0 s");
    time.wall -= 61_000;
    expect(clockCheck.isWrong()).to.equal(false);
  });

  it("is right after a restart of a container that has an uptime of its own", async () => {
    await open();
    time.uptime = 10;
    time.wall += 3_600_000;
    expect((await open()).clockCheck.isWrong()).to.equal(false);
  });

  it("is compared with the uptime without reading it while it runs evenly", async () => {
    let reads = 0;
    const uptime = () => {
      reads += 1;
      return time.uptime;
    };
    clocks = { ...clocks, uptime };
    const { clockCheck, clock } = await open();
    reads = 0;
    for (let turn = 0; turn < 100; turn++) {
      pass(1);
      clock();
      clockCheck.requireRightClock();
      clockCheck.throwIfClockIsWrong();
    }
    expect(reads).to.equal(0);
  });

  it("is confirmed by the kernel, or the kernel does not know it", async () => {
    expect(await kernelClock.difference()).to.be.oneOf([0, undefined]);
  });

  it("is that of the event store unless its server is outside of this machine's networks", async () => {
    const elsewhere = async (value: string) =>
      await isOnOtherMachine(readSettings({ EVENT_STORE: value }).eventStore);
    expect(await elsewhere("sqlite:x.db")).to.equal(false);
    expect(await elsewhere("esdb://127.0.0.1:2113?tls=false")).to.equal(false);
    expect(await elsewhere("esdb://user:pass@localhost:2113")).to.equal(false);
    expect(await elsewhere("esdb://203.0.113.7:2113,203.0.113.8:2113")).to.equal(true);
    expect(await elsewhere("esdb://203.0.113.7:2113,[::1]:2113")).to.equal(false);
  });
});
