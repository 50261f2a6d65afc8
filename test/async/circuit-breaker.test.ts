import { expect } from "chai";
import { type CircuitBreaker, createCircuitBreaker } from "../../src/async/circuit-breaker.ts";
import { createManualTime, type ManualTime } from "../support/manual-time.ts";

const failure = new Error("failure");

class CircuitOpen extends Error {
  readonly retryInMs: number;
  constructor(cause: Error, retryInMs: number) {
    super("open", { cause });
    this.retryInMs = retryInMs;
  }
}

describe("Circuit breaker", () => {
  let time: ManualTime;
  let circuit: CircuitBreaker<Error>;
  let changes: string[];

  beforeEach(() => {
    time = createManualTime();
    changes = [];
    circuit = createCircuitBreaker<Error>({
      time,
      threshold: 3,
      resetMs: 10_000,
      openError: (lastFailure, retryInMs) => new CircuitOpen(lastFailure, retryInMs),
      onChange: (state) => changes.push(state),
    });
  });

  const fail = (times = 1, retryAfterMs?: number) => {
    for (let i = 0; i < times; i++) circuit.start().failed(failure, retryAfterMs);
  };
  const refusal = (): CircuitOpen => {
    try {
      circuit.start();
    } catch (error) {
      return error as CircuitOpen;
    }
    throw new Error("The call was let through.");
  };

  it("opens after the threshold of consecutive failures", () => {
    fail(2);
    circuit.start().succeeded();
    fail(2);
    circuit.start().ignored();
    expect(circuit.state()).to.equal("closed");
    fail();
    expect(circuit.state()).to.equal("open");
  });

  it("refuses calls while it is open, with the last failure and the remaining time", () => {
    fail(3);
    time.advance(2_500);
    expect(refusal()).to.be.instanceOf(CircuitOpen).and.include({ retryInMs: 7_500, cause: failure });
  });

  it("stays open as long as the called service asks, up to a minute", () => {
    fail(2);
    fail(1, 30_000);
    expect(refusal().retryInMs).to.equal(30_000);
    time.advance(30_000);
    fail(1, 86_400_000);
    expect(refusal().retryInMs).to.equal(60_000);
  });

  it("lets one trial call through after the reset time, and closes when it succeeds", () => {
    fail(3);
    time.advance(10_000);
    const trial = circuit.start();
    refusal();
    trial.succeeded();
    expect(circuit.state()).to.equal("closed");
    fail(2);
    expect(changes).to.deep.equal(["open", "closed"]);
  });

  it("closes at the first response of a trial call, however long the rest takes", () => {
    fail(3);
    time.advance(10_000);
    const trial = circuit.start();
    trial.responded();
    expect(circuit.state()).to.equal("closed");
    trial.failed(failure);
    fail(2);
    expect(circuit.state()).to.equal("closed");
  });

  it("stays open for another reset time when the trial call fails", () => {
    fail(3);
    time.advance(10_000);
    fail();
    expect(refusal().retryInMs).to.equal(10_000);
    expect(changes).to.deep.equal(["open"]);
  });

  it("allows the next trial at once after an ignored one, and after the reset time if one never ends", () => {
    fail(3);
    time.advance(10_000);
    circuit.start().ignored();
    const endless = circuit.start();
    refusal();
    time.advance(10_000);
    circuit.start().succeeded();
    endless.failed(failure);
    fail(2);
    expect(circuit.state()).to.equal("closed");
  });

  it("ignores the results of calls that started before it opened", () => {
    const late = [circuit.start(), circuit.start(), circuit.start()];
    fail(3);
    late[0]?.succeeded();
    late[1]?.responded();
    expect(circuit.state()).to.equal("open");
    time.advance(10_000);
    const trial = circuit.start();
    late[2]?.failed(failure);
    trial.succeeded();
    expect(circuit.state()).to.equal("closed");
  });

  it("counts only the first report of a call", () => {
    const call = circuit.start();
    for (let i = 0; i < 3; i++) call.failed(failure);
    expect(circuit.state()).to.equal("closed");
  });
});
