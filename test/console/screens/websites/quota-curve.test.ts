import { expect } from "chai";
import { quotaCurve } from "../../../../src/console/screens/websites/quota-curve.ts";

const day = (name: string, characters: number) => ({ day: name, characters, requests: 1 });
const seconds = (time: string) => Date.parse(time) / 1_000;

describe("the curve of a key's month", () => {
  const report = {
    month: "2026-11",
    asOf: "2026-11-03T12:00:00.000Z",
    byDay: [day("2026-11-01", 10), day("2026-11-03", 40)],
    quotas: [
      { at: "2026-10-01T00:00:00.000Z", quota: 100 },
      { at: "2026-11-02T06:00:00.000Z", quota: null },
      { at: "2026-11-02T07:00:00.000Z", quota: 700 },
    ],
  };

  it("adds up what was used until the time of the report, and no further", () => {
    const { x, used } = quotaCurve(report);
    expect(x).to.have.length(32);
    expect(x.slice(2, 5)).to.deep.equal(
      ["2026-11-03T00:00:00Z", "2026-11-03T12:00:00Z", "2026-11-04T00:00:00Z"].map(seconds),
    );
    expect(used.slice(0, 5)).to.deep.equal([0, 10, 10, 50, null]);
  });

  it("continues from then at the pace of the month so far", () => {
    const { x, forecast, expected } = quotaCurve(report);
    expect(forecast.slice(0, 5)).to.deep.equal([null, null, null, 50, 60]);
    expect(x.at(-1)).to.equal(seconds("2026-12-01T00:00:00Z"));
    expect([forecast.at(-1), expected]).to.deep.equal([600, 600]);
  });

  it("shows the quota as it was at each time", () => {
    expect(quotaCurve(report).quota.slice(0, 4)).to.deep.equal([100, 100, 700, 700]);
  });

  it("has no forecast for a month that has ended, and nothing used in one to come", () => {
    const ended = quotaCurve({ ...report, asOf: "2026-12-05T00:00:00.000Z" });
    expect(ended.x).to.have.length(31);
    expect([ended.used.at(-1), ended.expected]).to.deep.equal([50, undefined]);
    expect(new Set(ended.forecast)).to.deep.equal(new Set([null]));
    const coming = quotaCurve({ ...report, asOf: "2026-10-05T00:00:00.000Z", byDay: [] });
    expect(new Set(coming.used)).to.deep.equal(new Set([null]));
  });
});
