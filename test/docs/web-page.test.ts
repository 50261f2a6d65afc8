import { expect } from "chai";
import type { StoredConfig } from "../../src/domain/accounts/website-config.ts";
import { article, heading, playButton, player, playerConfig } from "../e2e/web-features/article.ts";
import { admin } from "../support/client.ts";
import { openFeatureSite } from "../support/client-library/feature-page.ts";
import { duringSuite } from "../support/during.ts";
import { serveLocally } from "../support/local-server.ts";
import { readPage, snippetsOf } from "./pages.ts";

const snippets = snippetsOf(readPage("docs/use/web-pages.md"));

const only = (language: string, part: string): string => {
  const found = snippets.filter((snippet) => snippet.language === language && snippet.text.includes(part));
  expect(found, part).to.have.length(1);
  return found[0]?.text ?? "";
};

describe("the page about web pages", () => {
  const site = duringSuite(openFeatureSite);

  /** Puts the address and the key of the test's service into a page. */
  const adapt = (html: string): string =>
    html.replaceAll("http://127.0.0.1:8080", site.service.url).replaceAll("vlk_…", site.website.apiKey);

  it("has a script that speaks", async () => {
    const html = `<!doctype html><title>Test</title>${adapt(only("html", "client.js"))}`;
    const server = await serveLocally((_req, res) =>
      res.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(html),
    );
    try {
      const origins = [site.site.url, server.url];
      await admin(site.service.url, "PUT", `/websites/${site.website.id}/origins`, { origins });
      const page = await site.browser.context.newPage();
      const said = page.waitForEvent("console", (message) => message.text() === "said");
      await page.goto(server.url);
      // The library asks for a click if the browser does not let a page speak by itself.
      const clicked = page.getByRole("button", { name: "Allow speech" }).click();
      await Promise.race([said, clicked]);
      clicked.catch(() => undefined); // there was no button
      await said;
      await page.close();
    } finally {
      await server.close();
    }
  });

  it("has a tag and a configuration that put a player on a page", async () => {
    await site.configure(JSON.parse(only("json", "webPlayer")) as StoredConfig);
    const { page, untilSpoken } = await site.open(article, { head: adapt(only("html", "player.js")) });
    await untilSpoken("Welcome.");
    await playButton(await player(page)).click();
    expect(await untilSpoken(heading))
      .to.have.property("voice")
      .that.matches(/English.*Female/);
  });

  it("has a style that reserves the player's place on wide and on narrow screens", async () => {
    await site.configure(playerConfig({ position: { target: "#player" } }));
    const { page } = await site.open(article.replace("<main>", '<main><div id="player"></div>'), {
      css: only("css", "#player"),
    });
    await player(page);
    for (const [width, rem] of [
      ...([
        [1_000, 5.75],
        [800, 5.75],
        [799, 8.25],
        [480, 8.25],
        [479, 9.5],
        [360, 9.5],
      ] as const),
    ]) {
      await page.setViewportSize({ width, height: 600 });
      expect(await page.locator("#player").evaluate((place) => place.clientHeight)).to.equal(rem * 16);
    }
  });
});
