import { expect } from "chai";
import { effectiveProsody, formatKnobs } from "../../../src/domain/synthesis/prosody.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";

describe("The prosody that an engine is asked for", () => {
  it("is normal when nothing is said", () => {
    expect(effectiveProsody({}, {})).to.deep.equal(normalProsody);
    expect(effectiveProsody({ pitch: null, rate: undefined }, {})).to.deep.equal(normalProsody);
  });

  it("is the request's times the voice's", () => {
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

  it("is the same number however it was multiplied", () => {
    expect(effectiveProsody({ rate: 0.1 }, { rate: 3 }).rate).to.equal(
      effectiveProsody({ rate: 0.3 }, {}).rate,
    );
  });
});

describe("The knobs in a header", () => {
  it("stand in their stable order", () => {
    expect(formatKnobs(["volume", "pitch", "rate"])).to.equal("pitch,rate,volume");
    expect(formatKnobs([])).to.equal("");
  });
});
