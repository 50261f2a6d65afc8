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
    expect(liveness.verdict(nothing)).to.equal("alive");
    now += 1;
    expect(liveness.verdict(nothing)).to.equal("idle");
    liveness.asked();
    expect(liveness.verdict(nothing)).to.equal("alive");
  });

  it("is not prolonged by pongs", () => {
    now += 61;
    liveness.heard();
    expect(liveness.verdict(nothing)).to.equal("idle");
  });

  for (const busy of [
    { speaking: true, sending: false },
    { speaking: false, sending: true },
  ]) {
    it(`lasts while there is something to say (${JSON.stringify(busy)}), and counts anew from then`, () => {
      for (let i = 0; i < 10; i++) {
        now += 50;
        liveness.heard();
        liveness.taken();
        expect(liveness.verdict(busy)).to.equal("alive");
      }
      now += 60;
      expect(liveness.verdict(nothing)).to.equal("alive");
      now += 1;
      expect(liveness.verdict(nothing)).to.equal("idle");
    });
  }

  it("ends with a reader that takes nothing, whatever else it says", () => {
    now += 121;
    liveness.asked();
    liveness.heard();
    expect(liveness.verdict({ speaking: true, sending: true })).to.equal("stalled");
    liveness.taken();
    expect(liveness.verdict({ speaking: true, sending: true })).to.equal("alive");
  });

  it("ends with a peer that answers no ping, though it is being spoken to", () => {
    now += 121;
    expect(liveness.verdict({ speaking: true, sending: false })).to.equal("gone");
    liveness.heard();
    expect(liveness.verdict({ speaking: true, sending: false })).to.equal("alive");
  });

  it("does not end while what was taken may still be on its way to a slow reader", () => {
    now += 121;
    liveness.taken();
    now += 120;
    expect(liveness.verdict({ speaking: true, sending: false })).to.equal("alive");
  });
});
