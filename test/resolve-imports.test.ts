import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";

/** Runs a module with the flags of the service. Returns what it prints. */
const run = async (module: string): Promise<string> => {
  const { stdout } = await promisify(execFile)("scripts/node", ["--input-type=module", "--eval", module]);
  return stdout.trim();
};

describe("the resolution of imports", () => {
  it("leaves out zod's messages in other languages than English", async () => {
    const module = `
      import { z } from "zod";
      console.log(z.locales.de, z.string().safeParse(1).error.issues[0].message);
    `;
    expect(await run(module)).to.equal("undefined Invalid input: expected string, received number");
  });

  it("names a file that does not exist", async () => {
    const module = `
      console.log(await import("./src/none.ts").catch(({ message }) => message));
    `;
    expect(await run(module)).to.match(/no such file.*src\/none\.ts/);
  });
});
