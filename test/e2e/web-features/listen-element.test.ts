import { expect } from "chai";
import type { Page } from "playwright-core";
import { type FeaturePage, openFeatureSite } from "../../support/client-library/feature-page.ts";
import { duringSuite } from "../../support/during.ts";
import { first, heading, playButton, players, second } from "./article.ts";

/** The browser's globals that the tests use. */
declare const document: {
  querySelector(selector: string): {
    remove(): void;
    append(node: unknown): void;
    setAttribute(name: string, value: string): void;
  };
};

describe("the element voxledger-listen", () => {
  const site = duringSuite(openFeatureSite);
  afterEach(() => site.closePages());

  const element = (attributes = ""): string =>
    `<voxledger-listen api-key="${site.website.apiKey}" ${attributes}></voxledger-listen>`;
  const open = (body: string, onPage: (page: Page) => void = () => {}): Promise<FeaturePage> =>
    site.open(body, {
      head: `<script defer src="${site.service.url}/voxledger.js"></script>`,
      prepare: async (page) => onPage(page),
    });
  const shown = (page: Page, within = "voxledger-listen") =>
    page.locator(`${within} > voxledger-player:not([data-animation])`);

  it("shows the player in itself and reads the article around it, although the website has no player", async () => {
    const { page, untilSpoken, complaints } = await open(
      `<article><h2>${heading}</h2>${element()}<p>${first}</p><article><p>${second}</p></article></article><article><p>${second}</p></article>`,
    );
    await playButton(shown(page)).click();
    await untilSpoken(heading);
    const slider = shown(page).locator("input.progress");
    expect(await slider.getAttribute("aria-valuetext")).to.equal("Paragraph 1 of 2");
    expect(await players(page).count()).to.equal(1);
    expect(complaints).to.deep.equal([]);
  });

  it("reads the innermost of several articles around it, or the one that its attribute selects", async () => {
    const inner = `<article><h3>${second}</h3>${element()}</article>`;
    const { page, untilSpoken } = await open(
      `<article><h2>${heading}</h2>${inner}</article>${element('id="other" article="#note"')}<p id="note">${first}</p>`,
    );
    await playButton(shown(page, "article voxledger-listen")).click();
    await untilSpoken(second);
    await playButton(shown(page, "#other")).waitFor();
    expect(await players(page).count()).to.equal(2);
  });

  it("requests the configuration once for all elements of a page", async () => {
    const requested: string[] = [];
    const body = `<article><p>${first}</p>${element()}</article>`.repeat(3);
    const { page } = await open(body, (opened) =>
      opened.on("request", (request) =>
        requested.push(`${request.method()} ${new URL(request.url()).pathname}`),
      ),
    );
    await playButton(shown(page)).nth(2).waitFor();
    expect(requested.filter((one) => one === "GET /v2/config")).to.have.length(1);
  });

  it("removes its player when it is removed, and shows it again when it is moved or changed", async () => {
    const { page } = await open(
      `<article id="a"><p>${first}</p>${element()}</article><article id="b"><p>${second}</p></article>`,
    );
    await shown(page, "#a > voxledger-listen").waitFor();
    await page.evaluate(() =>
      document.querySelector("#b").append(document.querySelector("voxledger-listen")),
    );
    await shown(page, "#b > voxledger-listen").waitFor();
    await page.evaluate(() => document.querySelector("voxledger-listen").setAttribute("article", "#a"));
    await shown(page, "#b > voxledger-listen").waitFor();
    await page.evaluate(() => document.querySelector("voxledger-listen").remove());
    await page.waitForFunction(() => document.querySelector("voxledger-player") === null);
  });

  it("says in the console why it shows no player", async () => {
    const { page, complaints } = await open(`<main><p>${first}</p>${element()}</main>`);
    while (complaints.length === 0) await page.waitForEvent("console");
    expect(complaints).to.deep.equal(["Voxledger: No element around the player matches article."]);
    const invalid = await open(`<article><p>${first}</p>${element('article="!"')}</article>`);
    while (invalid.complaints.length === 0) await invalid.page.waitForEvent("console");
    expect(invalid.complaints[0]).to.match(/^Voxledger: .*'!' is not a valid selector/);
  });
});
