import { expect } from "chai";
import { createLiveness } from "../../../src/http/websocket/liveness.ts";

const nothing = { speaking: false, sending: false };

describe("a socket's usefulness", () => {
  let now: number;
  let liveness: ReturnType<typeof createLiveness>;

  beforeEach(() => {
    now = 1_000;
    liveness = createLiveness({ idleMs: 60, stallMs: 120 }, () => now);
  });

  it("is over after so long without a message", () => {
    now += 60;
    expect(liveness.state(nothing)).to.equal("alive");
    now += 1;
    expect(liveness.state(nothing)).to.equal("idle");
    liveness.messageReceived();
    expect(liveness.state(nothing)).to.equal("alive");
  });

  it("is not prolonged by pongs", () => {
    now += 61;
    liveness.activityReceived();
    expect(liveness.state(nothing)).to.equal("idle");
  });

  for (const busy of [
    { speaking: true, sending: false },
    { speaking: false, sending: true },
  ]) {
    it(`lasts while there is something to say (${JSON.stringify(busy)}), and counts anew from then`, () => {
      for (let i = 0; i < 10; i++) {
        now += 50;
        liveness.activityReceived();
        liveness.dataDrained();
        expect(liveness.state(busy)).to.equal("alive");
      }
      now += 60;
      expect(liveness.state(nothing)).to.equal("alive");
      now += 1;
      expect(liveness.state(nothing)).to.equal("idle");
    });
  }

  it("ends with a reader that takes nothing, whatever else it says", () => {
    now += 121;
    liveness.messageReceived();
    liveness.activityReceived();
    expect(liveness.state({ speaking: true, sending: true })).to.equal("stalled");
    liveness.dataDrained();
    expect(liveness.state({ speaking: true, sending: true })).to.equal("alive");
  });

  it("ends with a peer that answers no ping, though it is being spoken to", () => {
    now += 121;
    expect(liveness.state({ speaking: true, sending: false })).to.equal("gone");
    liveness.activityReceived();
    expect(liveness.state({ speaking: true, sending: false })).to.equal("alive");
  });

  it("does not end while what was taken may still be on its way to a slow reader", () => {
    now += 121;
    liveness.dataDrained();
    now += 120;
    expect(liveness.state({ speaking: true, sending: false })).to.equal("alive");
  });
});
