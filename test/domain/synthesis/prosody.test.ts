import { expect } from "chai";
import { effectiveProsody, formatProsodyParameters } from "../../../src/domain/synthesis/prosody.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";

describe("the prosody passed to an engine", () => {
  it("is normal by default", () => {
    expect(effectiveProsody({}, {})).to.deep.equal(normalProsody);
    expect(effectiveProsody({ pitch: null, rate: undefined }, {})).to.deep.equal(normalProsody);
  });

  it("is the product of the request's and the voice's factors", () => {
    const voice = { pitch: 1.2, rate: 0.5, volume: 0.5 };
    expect(effectiveProsody({ pitch: 0.5, rate: 1.5, volume: 0.5 }, voice)).to.deep.equal({
      pitch: 0.6,
      rate: 0.75,
      volume: 0.25,
    });
  });

  it("stays within the limits of a request", () => {
    expect(
      effectiveProsody({ pitch: 2, rate: 2, volume: 1 }, { pitch: 2, rate: 1.5, volume: 1 }),
    ).to.deep.equal({
      pitch: 2,
      rate: 2,
      volume: 1,
    });
    expect(effectiveProsody({ pitch: 0, rate: 0, volume: 0 }, {})).to.deep.equal({
      pitch: 0,
      rate: 0,
      volume: 0,
    });
  });

  it("does not depend on rounding in the multiplication", () => {
    expect(effectiveProsody({ rate: 0.1 }, { rate: 3 }).rate).to.equal(
      effectiveProsody({ rate: 0.3 }, {}).rate,
    );
  });
});

describe("the prosody parameters in a header", () => {
  it("have a fixed order", () => {
    expect(formatProsodyParameters(["volume", "pitch", "rate"])).to.equal("pitch,rate,volume");
    expect(formatProsodyParameters([])).to.equal("");
  });
});
