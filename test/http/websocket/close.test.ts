import { expect } from "chai";
import { closeReason } from "../../../src/http/websocket/close.ts";

describe("the reason of a close frame", () => {
  it("is the text if it fits into a control frame", () => {
    expect(closeReason("The key is suspended: abuse.")).to.equal("The key is suspended: abuse.");
    expect(closeReason("é".repeat(61))).to.equal("é".repeat(61));
  });

  it("is truncated to 123 bytes between two characters", () => {
    expect(closeReason("x".repeat(200))).to.equal("x".repeat(123));
    expect(closeReason("é".repeat(200))).to.equal("é".repeat(61));
    expect(closeReason(`x${"😀".repeat(40)}`)).to.equal(`x${"😀".repeat(30)}`);
  });
});
