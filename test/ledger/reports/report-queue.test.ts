import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { Unavailable } from "../../../src/domain/errors.ts";
import { createReportQueue } from "../../../src/ledger/reports/report-queue.ts";
import { createManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";

const never = new AbortController().signal;

describe("the queue of usage reports", () => {
  const setUp = () => {
    const time = createManualTime();
    const queue = createReportQueue({ time });
    const started: string[] = [];
    /** Ends with its own error when its signal is aborted, like a read of the event store. */
    const slow = (apiKey: string, signal = never) => {
      const end = Promise.withResolvers<string>();
      const result = queue.run(apiKey, signal, (aborted) => {
        started.push(apiKey);
        const cut = Promise.withResolvers<string>();
        aborted.addEventListener("abort", () => cut.reject(new Error(`${apiKey} was cut`)));
        return Promise.race([end.promise, cut.promise]);
      });
      result.catch(() => undefined);
      return { result, end: () => end.resolve(apiKey) };
    };
    const quick = (apiKey: string) => queue.run(apiKey, never, async () => apiKey);
    return { time, queue, started, slow, quick };
  };

  it("lets no report wait longer than a second behind slow reports of two other keys", async () => {
    const { time, slow, quick, started } = setUp();
    const [first, second] = [slow("a"), slow("b")];
    await until(() => started.length === 2);
    const waiting = quick("c");
    time.advance(1_000);
    expect(await waiting).to.equal("c");
    first.end();
    second.end();
    expect(await Promise.all([first.result, second.result])).to.deep.equal(["a", "b"]);
    expect(started).to.deep.equal(["a", "b"]);
  });

  it("lets no report wait behind slow reports of many keys, which wait for each other", async () => {
    const { time, slow, quick, started } = setUp();
    const keys = ["a", "b", "c", "d"];
    const reports = keys.map((key) => slow(key));
    await until(() => started.length === 2);
    time.advance(1_000);
    await until(() => started.length === 4);
    time.advance(1_000);
    expect(await quick("e")).to.equal("e");
    reports[0]?.end();
    reports[1]?.end();
    await until(() => started.length === 6);
    for (const { end } of reports) end();
    expect(await Promise.all(reports.map(({ result }) => result))).to.deep.equal(keys);
    expect(started.slice(4)).to.have.members(["c", "d"]);
  });

  it("ends a report after 30 seconds", async () => {
    const { time, slow, started } = setUp();
    const { result } = slow("a");
    await until(() => started.length === 1);
    time.advance(1_000);
    time.advance(28_999);
    expect(await Promise.race([result.catch(() => "ended"), setImmediate("running")])).to.equal("running");
    time.advance(1);
    expect(await rejection(result))
      .to.be.instanceOf(Unavailable)
      .and.include({ retryAfterSeconds: 60 });
  });

  it("ends a report that had to run once more after 30 seconds", async () => {
    const { time, slow, started } = setUp();
    const reports = ["a", "b", "c"].map((key) => slow(key));
    await until(() => started.length === 2);
    time.advance(1_000);
    await until(() => started.length === 3);
    time.advance(1_000);
    for (const { end } of reports.slice(0, 2)) end();
    await until(() => started.length === 4);
    time.advance(30_000);
    expect(await rejection(reports[2]?.result ?? Promise.resolve())).to.be.instanceOf(Unavailable);
  });

  it("throws a report's own error, and the caller's reason", async () => {
    const { queue, slow, started } = setUp();
    const broken = new Error("broken");
    const failing = queue.run("a", never, async () => {
      throw broken;
    });
    expect(await rejection(failing)).to.equal(broken);
    const caller = new AbortController();
    const { result } = slow("b", caller.signal);
    await until(() => started.includes("b"));
    caller.abort();
    expect(await rejection(result)).to.match(/b was cut/);
  });
});
