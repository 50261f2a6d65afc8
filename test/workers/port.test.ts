import { expect } from "chai";
import { CallFailed, type Port } from "../../src/workers/port.ts";
import { createManualTime, type ManualTime } from "../support/manual-time.ts";
import { rejection } from "../support/rejection.ts";
import { linkedPorts } from "./linked-ports.ts";

type ToWorker = {
  add: { request: readonly [number, number]; response: number };
  wait: { request: undefined; response: undefined };
  fail: { request: unknown; response: undefined };
  note: { request: number; response: undefined };
};
type ToPrimary = Record<never, never>;

describe("calls between a primary and a worker", () => {
  let time: ManualTime;
  let noted: number[];
  let primary: Port<ToWorker, ToPrimary>;

  beforeEach(() => {
    time = createManualTime();
    noted = [];
    const ports = linkedPorts<ToWorker, ToPrimary>({ time });
    primary = ports.primary({});
    ports.worker({
      add: ([one, other]) => one + other,
      wait: () => new Promise(() => {}),
      fail: (error) => {
        throw error;
      },
      note: (number) => void noted.push(number),
    });
  });

  it("get the response to their own request", async () => {
    const sums = [1, 2, 3].map((number) => primary.call("add", [number, 10]));
    expect(await Promise.all(sums)).to.deep.equal([11, 12, 13]);
  });

  it("arrive in the order in which they were made, with and without a response", async () => {
    for (let number = 0; number < 10; number++) {
      if (number % 2 === 0) primary.post("note", number);
      else void primary.call("note", number);
    }
    await primary.call("add", [0, 0]);
    expect(noted).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("fail with the message of the other process's error, and without its stack", async () => {
    const error = await rejection(primary.call("fail", new RangeError("it is full")));
    expect(error).to.be.instanceOf(CallFailed).with.property("message", "it is full");
    expect((error as Error).stack).not.to.include("RangeError");
    expect((error as Error).cause).to.equal(undefined);
  });

  it("fail if the other process throws a value that is not an error", async () => {
    const error = await rejection(primary.call("fail", undefined));
    expect(error).to.be.instanceOf(CallFailed).with.property("message", "undefined");
  });

  it("fail if the other process does not know them", async () => {
    expect(await rejection(primary.call("missing" as "wait", undefined))).to.be.instanceOf(CallFailed);
  });

  it("fail at their deadline, and only those that have one", async () => {
    const settled: string[] = [];
    const limited = rejection(primary.call("wait", undefined, { withinMs: 1_000 }));
    void primary.call("wait", undefined).finally(() => settled.push("unlimited"));
    expect(await primary.call("add", [1, 2], { withinMs: 1_000 })).to.equal(3);
    time.advance(1_000);
    expect(await limited)
      .to.be.instanceOf(CallFailed)
      .with.property("message", "no response to wait within 1000 ms");
    expect(settled).to.deep.equal([]);
    expect(time.waiting(), "timers").to.equal(0);
  });

  it("fail when the other process has ended, whether they wait or are made later", async () => {
    const waiting = [rejection(primary.call("wait", undefined)), rejection(primary.call("add", [1, 2]))];
    primary.close();
    primary.post("note", 1);
    for (const error of await Promise.all([...waiting, rejection(primary.call("add", [1, 2]))]))
      expect(error).to.be.instanceOf(CallFailed).with.property("message", "the other process has ended");
    expect(noted).to.deep.equal([]);
  });
});
