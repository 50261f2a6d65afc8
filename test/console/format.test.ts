import { expect } from "chai";
import { toTsv } from "../../src/console/format.ts";

describe("copied tables", () => {
  it("have a row on each line, whatever the cells contain", () => {
    expect(
      toTsv([
        ["a\tb", "c\r\nd"],
        [null, undefined],
      ]),
    ).to.equal("a b\tc d\n\t");
  });

  it("escape texts that a spreadsheet would evaluate, and leave numbers as they are", () => {
    const formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\uff1d1"];
    for (const formula of formulas) expect(toTsv([[formula]])).to.match(/^'/);
    expect(toTsv([[-1, 2.5, "a=b", "\u2212 1", ""]])).to.equal("-1\t2.5\ta=b\t\u2212 1\t");
  });
});
