import { readFile } from "node:fs/promises";
import { expect } from "chai";
import type { StoredConfig } from "../../../src/domain/accounts/website-config.ts";
import { type FeatureSite, openFeatureSite } from "../../support/client-library/feature-page.ts";
import { article, heading, playButton, player } from "./article.ts";

describe("the README's section about the player", () => {
  let site: FeatureSite;

  before(async () => {
    site = await openFeatureSite();
  });
  after(() => site.close());

  it("has a tag and a configuration that put a player on a page", async () => {
    const readme = await readFile("README.md", "utf8");
    const [, section = ""] = readme.split("### Put a player on your page\n");
    const [, tag = ""] = /```html\n(.*?)```/s.exec(section) ?? [];
    const [, config = ""] = /```json\n(.*?)```/s.exec(section) ?? [];
    await site.configure(JSON.parse(config) as StoredConfig);
    const head = tag.replace("http://127.0.0.1:8080", site.service.url).replace("vlk_…", site.website.apiKey);
    const { page, untilSpoken } = await site.open(article, { head });
    await untilSpoken("Welcome.");
    await playButton(await player(page)).click();
    expect(await untilSpoken(heading))
      .to.have.property("voice")
      .that.matches(/English.*Female/);
  });
});
