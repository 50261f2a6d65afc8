import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { admin, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { type RunningService, startOne, temporaryFolder } from "../support/service.ts";

const masterKey = Buffer.alloc(32, 9).toString("base64");

describe("a website's lexicons on several instances", () => {
  const folder = duringSuite(temporaryFolder);
  let first: RunningService;
  let second: RunningService;
  let website: Credentials;

  before(async () => {
    first = await startOne(folder.path, { MASTER_KEY: masterKey });
    second = await startOne(folder.path, { MASTER_KEY: masterKey });
    website = await registerWebsite(first.url);
  });
  after(async () => {
    await Promise.all([first.stop(), second.stop()]);
  });

  /** Polls until the condition holds; the test's own timeout is the limit. */
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await delay(20);
  };
  const hashOn = async ({ url }: RunningService): Promise<string | null> => {
    const response = await synthesize(url, website, { text: "The W3C.", lang: "en-GB" });
    await response.arrayBuffer();
    return response.status === 200 ? response.headers.get("etag") : null;
  };
  const setOn = ({ url }: RunningService, alias: string) =>
    admin(url, "PUT", `/websites/${website.id}/lexicons/common`, { rules: [{ grapheme: "W3C", alias }] });

  it("are noticed by each instance, with every change, also where the text was served before", async () => {
    await until(async () => (await hashOn(second)) !== null);
    const hashes = [await hashOn(second)];
    for (const alias of ["World Wide Web Consortium", "the consortium"]) {
      expect((await setOn(first, alias)).status).to.equal(200);
      const changed = await hashOn(first);
      expect(hashes).to.not.include(changed);
      await until(async () => (await hashOn(second)) === changed);
      hashes.push(changed);
    }
  });

  it("are the same after a restart", async () => {
    const before = await hashOn(first);
    await second.stop();
    second = await startOne(folder.path, { MASTER_KEY: masterKey });
    expect(await hashOn(second)).to.equal(before);
  });
});
