import { existsSync } from "node:fs";
import { expect } from "chai";
import { longFiles, sampleOf, sampleOfFiles } from "./sample.ts";

describe("the sample of the long tests", () => {
  it("is taken from files that exist", () => {
    expect(longFiles).not.to.be.empty;
    expect([...longFiles].filter((file) => !existsSync(file))).to.deep.equal([]);
  });

  const titles = Array.from({ length: 41 }, (_, index) => `test ${index}`);

  it("is a tenth of a file's tests, at least one, and the same for the same seed", () => {
    expect(sampleOf(titles, "1", 10)).to.have.length(5);
    expect(sampleOf(titles, "1", 10)).to.deep.equal(sampleOf(titles.toReversed(), "1", 10));
    expect(sampleOf(titles, "1", 10)).not.to.deep.equal(sampleOf(titles, "2", 10));
    expect(sampleOf(titles.slice(0, 2), "1", 10)).to.have.length(1);
  });

  it("contains a sixth of the files, all of them over many seeds", () => {
    const found = new Set<string>();
    for (let seed = 0; seed < 100; seed++) {
      const files = sampleOfFiles(String(seed));
      expect(files).to.have.length(Math.ceil(longFiles.size / 6));
      for (const file of files) found.add(file);
    }
    expect(found).to.deep.equal(longFiles);
  });
});
