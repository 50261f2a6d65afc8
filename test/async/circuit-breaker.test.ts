import { expect } from "chai";
import { type CircuitBreaker, createCircuitBreaker } from "../../src/async/circuit-breaker.ts";
import { EngineFailed } from "../../src/domain/errors.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";

const broken = new EngineFailed("It is broken.");

describe("A circuit", () => {
  let clock: ManualClock;
  let circuit: CircuitBreaker;
  let changes: string[];

  beforeEach(() => {
    clock = createManualClock();
    changes = [];
    const onChange = (state: string) => void changes.push(state);
    circuit = createCircuitBreaker({ clock, threshold: 3, resetMs: 10_000, onChange });
  });

  const fail = (times = 1, failure = broken) => {
    for (let i = 0; i < times; i++) circuit.start().failed(failure);
  };
  const refusal = (): EngineFailed => {
    try {
      circuit.start();
    } catch (error) {
      return error as EngineFailed;
    }
    throw new Error("it let a call through");
  };

  it("lets calls through while fewer fail in a row than it takes", () => {
    fail(2);
    circuit.start().succeeded();
    fail(2);
    circuit.start().ignored();
    expect(circuit.state()).to.equal("closed");
    fail();
    expect(circuit.state()).to.equal("open");
  });

  it("fails at once while it is open, with the last failure's words and the seconds that are left", () => {
    fail(3);
    clock.advance(2_500);
    const refused = refusal();
    expect(refused).to.be.instanceOf(EngineFailed);
    expect(refused.message).to.match(/again and again.*It is broken\.$/);
    expect(refused.retryAfterSeconds).to.equal(8);
  });

  it("stays open as long as the upstream asked for, up to a minute", () => {
    fail(2);
    fail(1, new EngineFailed("Later.", { retryAfterSeconds: 30 }));
    expect(refusal().retryAfterSeconds).to.equal(30);
    clock.advance(30_000);
    fail(1, new EngineFailed("Tomorrow.", { retryAfterSeconds: 86_400 }));
    expect(refusal().retryAfterSeconds).to.equal(60);
  });

  it("lets one call through after its time, and is closed by its success", () => {
    fail(3);
    clock.advance(10_000);
    const trial = circuit.start();
    refusal();
    trial.succeeded();
    expect(circuit.state()).to.equal("closed");
    fail(2);
    expect(changes).to.deep.equal(["open", "closed"]);
  });

  it("is closed by the first that a trial answers, however long the rest takes", () => {
    fail(3);
    clock.advance(10_000);
    const trial = circuit.start();
    trial.answered();
    expect(circuit.state()).to.equal("closed");
    trial.failed(broken);
    fail(2);
    expect(circuit.state()).to.equal("closed");
  });

  it("is open for as long again when the trial fails", () => {
    fail(3);
    clock.advance(10_000);
    fail();
    expect(refusal().retryAfterSeconds).to.equal(10);
    expect(changes).to.deep.equal(["open"]);
  });

  it("lets the next one try at once when a trial tells nothing, and after its time when it never ends", () => {
    fail(3);
    clock.advance(10_000);
    circuit.start().ignored();
    const endless = circuit.start();
    refusal();
    clock.advance(10_000);
    circuit.start().succeeded();
    endless.failed(broken);
    fail(2);
    expect(circuit.state()).to.equal("closed");
  });

  it("heeds no call that began before it was opened", () => {
    const late = [circuit.start(), circuit.start(), circuit.start()];
    fail(3);
    late[0]?.succeeded();
    late[1]?.answered();
    expect(circuit.state()).to.equal("open");
    clock.advance(10_000);
    const trial = circuit.start();
    late[2]?.failed(broken);
    trial.succeeded();
    expect(circuit.state()).to.equal("closed");
  });

  it("hears of each call's end once", () => {
    const call = circuit.start();
    for (let i = 0; i < 3; i++) call.failed(broken);
    expect(circuit.state()).to.equal("closed");
  });
});
