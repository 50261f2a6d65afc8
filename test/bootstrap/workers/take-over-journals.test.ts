import { expect } from "chai";
import pino from "pino";
import type { CallsToPrimary, CallsToWorker } from "../../../src/bootstrap/workers/calls.ts";
import { createJournalTakeOver } from "../../../src/bootstrap/workers/take-over-journals.ts";
import type { Handlers } from "../../../src/workers/port.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { linkedPorts } from "../../workers/linked-ports.ts";

describe("the journals of workers that have ended", () => {
  let time: ManualTime;
  let asked: string[];
  let takeOver: ReturnType<typeof createJournalTakeOver>;

  beforeEach(() => {
    time = createManualTime();
    asked = [];
    takeOver = createJournalTakeOver({ log: pino({ level: "silent" }), time });
  });

  /** A worker that serves. `recover`: what it does when it is asked. */
  const join = (name: string, recover: () => Promise<void> = async () => {}) => {
    const ports = linkedPorts<CallsToWorker, CallsToPrimary>({ time });
    const recoverJournals = async (journals: readonly string[]): Promise<void> => {
      asked.push(`${name}: ${journals.join(" ")}`);
      await recover();
    };
    ports.worker({ recoverJournals } as Partial<Handlers<CallsToWorker>> as Handlers<CallsToWorker>);
    const worker = { port: ports.primary({} as Handlers<CallsToPrimary>) };
    takeOver.add(worker);
    return { worker, end: (...journals: string[]) => takeOver.ended(worker, journals) };
  };
  const settle = () => new Promise(setImmediate);
  const haveAsked = (times: number) => until(() => asked.length === times);
  const never = () => new Promise<void>(() => {});

  it("are taken over by a worker that serves, those of several together", async () => {
    const [one, other] = [join("one"), join("other")];
    join("last");
    one.end("j1", "j2");
    await haveAsked(1);
    other.end("j3");
    await haveAsked(2);
    expect(asked).to.deep.equal(["other: j1 j2", "last: j3"]);
    await settle();
    time.advance(60_000);
    await settle();
    expect(asked).to.have.length(2);
  });

  it("wait until a worker serves", async () => {
    join("one").end("j1");
    await settle();
    join("next");
    await haveAsked(1);
    expect(asked).to.deep.equal(["next: j1"]);
  });

  it("are taken over by another worker if the first one does not respond", async () => {
    const dead = join("dead");
    join("frozen", never);
    join("well");
    dead.end("j1");
    await haveAsked(1);
    time.advance(30_000);
    await settle();
    time.advance(1_000);
    await haveAsked(2);
    expect(asked).to.deep.equal(["frozen: j1", "well: j1"]);
  });

  it("are taken over at the next attempt if one fails", async () => {
    const dead = join("dead");
    let failures = 1;
    join("one", async () => {
      if (failures-- > 0) throw new Error("the event store is down");
    });
    dead.end("j1");
    await haveAsked(1);
    await settle();
    await settle();
    time.advance(1_000);
    await haveAsked(2);
    expect(asked).to.deep.equal(["one: j1", "one: j1"]);
  });

  it("are taken over by another worker if the first one ends meanwhile", async () => {
    const dead = join("dead");
    const second = join("second", never);
    join("third");
    dead.end("j1");
    await haveAsked(1);
    second.worker.port.close();
    second.end("j2");
    await settle();
    time.advance(1_000);
    await haveAsked(2);
    expect(asked).to.deep.equal(["second: j1", "third: j1 j2"]);
  });
});
