import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "chai";
import { credentialsStream } from "../../../src/domain/accounts/credentials.ts";
import {
  openCredentialsInstance,
  operator,
  otherKey,
  rightKey,
  textFrom,
} from "../../support/credentials-instance.ts";
import { duringTest } from "../../support/during.ts";

const program = join(import.meta.dirname, "../../support/set-credentials.ts");

describe("credentials shared by processes on one log", () => {
  const service = duringTest(openCredentialsInstance);
  let website: string;

  beforeEach(async () => {
    website = await service.aWebsite();
  });

  const setElsewhere = async (apiKey: string): Promise<void> => {
    const child = spawn(process.execPath, [program, service.folder, website], {
      stdio: ["pipe", "inherit", "inherit"],
    });
    child.stdin.end(apiKey);
    expect(await once(child, "exit")).to.deep.equal([0, null]);
    await service.caughtUp(credentialsStream(website));
  };

  it("set by one process are used by the other, with their voices", async () => {
    expect(service.accountOf(website, "gwn")).to.equal(undefined);
    await setElsewhere(rightKey);
    expect(await textFrom(service.accountOf(website, "gwn"))).to.equal(rightKey);
    expect(service.ownVoicesOf(website)?.voices).to.have.length(2);
  });

  it("replaced by one process are no longer used by the other", async () => {
    await service.credentials.set(website, "gwn", { apiKey: rightKey }, operator);
    const before = service.accountOf(website, "gwn");
    await setElsewhere(otherKey);
    expect(service.accountOf(website, "gwn")).to.not.equal(before);
    expect(await textFrom(service.accountOf(website, "gwn"))).to.equal(otherKey);
  });
});
