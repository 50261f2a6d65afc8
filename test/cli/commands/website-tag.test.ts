import { expect } from "chai";
import { createWebsite, runCommand } from "../../support/command-line.ts";
import { duringSuite } from "../../support/during.ts";
import { temporaryFolder } from "../../support/service.ts";

describe("`website tag`", () => {
  const folder = duringSuite(temporaryFolder);

  it("notes an address that only this machine reaches", async () => {
    const { id } = await createWebsite(folder.path);
    const noteFor = async (env: Record<string, string>, ...options: string[]) => {
      const args = ["website", "tag", id, ...options];
      const { stdout, stderr } = await runCommand({ DATA_DIR: folder.path, ...env }, args);
      expect(stderr).to.equal("");
      return /^Only this machine reaches (\S+)\. For other readers, set PUBLIC_URL/.exec(stdout)?.[1];
    };
    expect(await noteFor({ PORT: "8123" })).to.equal("http://127.0.0.1:8123");
    expect(await noteFor({}, "--url", "https://[::1]/tts")).to.equal("https://[::1]/tts");
    expect(await noteFor({}, "--url", "https://tts.example")).to.equal(undefined);
    expect(await noteFor({ PUBLIC_URL: "https://tts.example" })).to.equal(undefined);
    expect(await noteFor({ PUBLIC_URL: "http://localhost:8080" })).to.equal("http://localhost:8080");
  });
});
