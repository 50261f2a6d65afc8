import { expect } from "chai";
import { RateLimited } from "../../src/limits/limits.ts";
import { testLimits } from "../support/test-limits.ts";

const unreadAudio = () => testLimits({ UNREAD_AUDIO_BYTES: 100 }).unread;
const memory = (byteLength: number) => ({ byteLength });

describe("unread audio", () => {
  it("is limited in bytes, for each key", () => {
    const unread = unreadAudio();
    const read = unread.hold("k", memory(60));
    unread.requireRoom("k");
    unread.hold("k", memory(40));
    expect(() => unread.requireRoom("k"))
      .to.throw(RateLimited, "100 bytes")
      .that.includes({ kind: "unread", retryAfterSeconds: 5 });
    unread.requireRoom("other");
    read();
    read();
    unread.requireRoom("k");
  });

  it("is counted once for clients that share audio", () => {
    const unread = unreadAudio();
    const sound = memory(60);
    const reads = [unread.hold("k", sound), unread.hold("k", sound)];
    unread.requireRoom("k");
    reads[0]?.();
    unread.hold("k", memory(60));
    expect(() => unread.requireRoom("k")).to.throw(RateLimited);
    reads[1]?.();
    unread.requireRoom("k");
  });

  it("includes what a stream holds while its audio grows", () => {
    const unread = unreadAudio();
    const sound = { byteLength: 0 };
    const close = unread.holdStreamed("k", sound);
    unread.requireRoom("k");
    sound.byteLength = 100;
    expect(() => unread.requireRoom("k")).to.throw(RateLimited);
    close();
    close();
    unread.requireRoom("k");
  });
});
