import { execFile } from "node:child_process";
import { expect } from "chai";

describe("scripts/check", () => {
  it("finds nothing: types, style, words and the rules between folders hold", async function () {
    this.timeout(900_000);
    const output = await new Promise<string>((resolve) =>
      execFile("scripts/check", { maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
        resolve(error ? `${stdout}${stderr}${error.message}` : ""),
      ),
    );
    expect(output).to.equal("");
  });
});
