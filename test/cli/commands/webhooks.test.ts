import { expect } from "chai";
import { runCommand } from "../../support/command-line.ts";
import { duringSuite } from "../../support/during.ts";
import { temporaryFolder } from "../../support/service.ts";

describe("the webhook commands", () => {
  const folder = duringSuite(temporaryFolder);

  const webhook = (...args: string[]) => runCommand({ DATA_DIR: folder.path }, ["webhook", ...args]);
  const json = async (...args: string[]) => JSON.parse((await webhook(...args, "--json")).stdout);

  it("add a webhook and show its secret once, list, change, test and remove it", async () => {
    const added = await webhook("add", "https://example.com/hook", "--event", "key.suspended");
    expect(added).to.deep.include({ exitCode: 0, stderr: "" });
    expect(added.stdout).to.match(/^secret +whsec_[A-Za-z0-9+/]{43}= \(shown this once\)$/m);
    const [{ webhookId, ...listed }] = await json("list");
    expect(listed).to.deep.include({
      url: "https://example.com/hook",
      events: ["key.suspended"],
      status: "enabled",
    });
    expect((await webhook("list")).stdout).to.match(
      /^whk_\w{22} +enabled +https:\/\/example.com\/hook +key.suspended$/m,
    );
    const rotated = await json("rotate-secret", webhookId);
    expect(rotated.secret)
      .to.match(/^whsec_/)
      .and.to.not.equal(/whsec_\S+/.exec(added.stdout)?.[0]);
    expect(await json("change", webhookId, "--disable")).to.include({ status: "disabled" });
    expect(await json("change", webhookId, "--enable", "--url", "https://example.com/new")).to.include({
      status: "enabled",
      url: "https://example.com/new",
    });
    const { messageId } = await json("test", webhookId);
    expect((await webhook("deliveries", webhookId)).stdout).to.match(
      new RegExp(`^${messageId} +webhook.test +pending +0 `, "m"),
    );
    expect((await webhook("remove", webhookId)).stdout).to.equal(`${webhookId} is removed.\n`);
    expect((await webhook("list")).stdout).to.equal("There is no webhook.\n");
  });

  it("name what is wrong", async () => {
    expect((await webhook("add", "https://example.com/", "--event", "unknown")).stderr).to.include(
      "Allowed choices are quota.threshold_crossed",
    );
    expect((await webhook("add", "example.com/hook")).stderr).to.include("must be an absolute URL");
    expect((await webhook("add", "http://example.com/")).stderr).to.include(
      "only https may leave this machine",
    );
    expect((await webhook("add", "https://example.com/", "--key", "vlk_none")).stderr).to.equal(
      "error: There is no such key.\n",
    );
    expect(await webhook("remove", "whk_none")).to.deep.include({
      exitCode: 1,
      stderr: "error: There is no such webhook.\n",
    });
  });
});
