import { existsSync } from "node:fs";
import { expect } from "chai";
import { longFiles, sampleOf } from "./sample.ts";

describe("the sample of the long tests", () => {
  it("is taken from files that exist", () => {
    expect(longFiles).not.to.be.empty;
    expect([...longFiles].filter((file) => !existsSync(file))).to.deep.equal([]);
  });

  it("is a tenth of a file's tests, at least one, and the same for the same seed", () => {
    const titles = Array.from({ length: 41 }, (_, index) => `test ${index}`);
    expect(sampleOf(titles, "1")).to.have.length(5);
    expect(sampleOf(titles, "1")).to.deep.equal(sampleOf(titles.toReversed(), "1"));
    expect(sampleOf(titles, "1")).not.to.deep.equal(sampleOf(titles, "2"));
    expect(sampleOf(titles.slice(0, 2), "1")).to.have.length(1);
  });
});
