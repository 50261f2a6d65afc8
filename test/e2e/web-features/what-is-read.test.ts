import { expect } from "chai";
import { openFeatureSite } from "../../support/client-library/feature-page.ts";
import { duringSuite } from "../../support/during.ts";
import { playButton, player, playerConfig, styleOf } from "./article.ts";

const article = `<main><article>
<h1>Night trains</h1><p class="byline">By Ann Lee</p>
<blockquote>Sleep is the best travel.<sup><a href="#fn1">1</a></sup></blockquote>
<table data-voxledger-read><thead><tr><th>City</th><th>Departs</th></tr></thead>
<tbody><tr><th>Paris</th><td>at eight</td></tr><tr><th>Rome</th><td>at nine</td></tr></tbody></table>
<table><tr><th>Not</th><td><p>read</p></td></tr></table>
<aside><p>Subscribe.</p></aside><p data-voxledger-skip>Skipped.</p>
</article></main>`;

describe("what the player reads of a page", () => {
  const site = duringSuite(openFeatureSite);
  afterEach(() => site.closePages());

  it("is spoken in the order of the article, each text once", async () => {
    await site.configure(playerConfig({ rate: 2 }));
    const { page, texts, untilEnded } = await site.open(article);
    await playButton(await player(page)).click();
    await untilEnded(4);
    expect(texts()).to.deep.equal([
      "Night trains",
      "Sleep is the best travel.",
      "Paris, Departs: at eight",
      "Rome, Departs: at nine",
    ]);
  });

  it("begins at the row of the cell that is clicked", async () => {
    await site.configure(playerConfig());
    const { page, texts, untilSpoken } = await site.open(article);
    await playButton(await player(page)).click();
    await untilSpoken(/./);
    const cell = page.getByText("at nine");
    expect(await styleOf(cell, "cursor")).to.equal("pointer");
    await cell.click();
    await page.locator("tr[data-voxledger-speaking]").waitFor();
    expect(texts().at(-1)).to.equal("Rome, Departs: at nine");
  });
});
