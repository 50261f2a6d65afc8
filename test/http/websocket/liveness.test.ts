import { expect } from "chai";
import { createLiveness } from "../../../src/http/websocket/liveness.ts";

const inactive = { synthesizing: false, sending: false };

describe("the liveness of a socket", () => {
  let now: number;
  let liveness: ReturnType<typeof createLiveness>;

  beforeEach(() => {
    now = 1_000;
    liveness = createLiveness({ idleMs: 60, stallMs: 120 }, { now: () => now });
  });

  it("is idle after the idle timeout without a message", () => {
    now += 60;
    expect(liveness.state(inactive)).to.equal("alive");
    now += 1;
    expect(liveness.state(inactive)).to.equal("idle");
    liveness.messageReceived();
    expect(liveness.state(inactive)).to.equal("alive");
  });

  it("is idle even if the client sends pongs", () => {
    now += 61;
    liveness.activityReceived();
    expect(liveness.state(inactive)).to.equal("idle");
  });

  for (const busy of [
    { synthesizing: true, sending: false },
    { synthesizing: false, sending: true },
  ]) {
    it(`is alive while it is busy (${JSON.stringify(busy)}), and restarts the idle timeout afterwards`, () => {
      for (let i = 0; i < 10; i++) {
        now += 50;
        liveness.activityReceived();
        liveness.dataDrained();
        expect(liveness.state(busy)).to.equal("alive");
      }
      now += 60;
      expect(liveness.state(inactive)).to.equal("alive");
      now += 1;
      expect(liveness.state(inactive)).to.equal("idle");
    });
  }

  it("is stalled if the client reads nothing, whatever it sends", () => {
    now += 121;
    liveness.messageReceived();
    liveness.activityReceived();
    expect(liveness.state({ synthesizing: true, sending: true })).to.equal("stalled");
    liveness.dataDrained();
    expect(liveness.state({ synthesizing: true, sending: true })).to.equal("alive");
  });

  it("is gone if the client responds to no ping, even during a synthesis", () => {
    now += 121;
    expect(liveness.state({ synthesizing: true, sending: false })).to.equal("gone");
    liveness.activityReceived();
    expect(liveness.state({ synthesizing: true, sending: false })).to.equal("alive");
  });

  it("is alive while drained data may still be on its way to a slow client", () => {
    now += 121;
    liveness.dataDrained();
    now += 120;
    expect(liveness.state({ synthesizing: true, sending: false })).to.equal("alive");
  });
});
