import { expect } from "chai";
import type { Page } from "playwright-core";
import { openBrowser } from "../../support/browser.ts";
import { admin, registerWebsite } from "../../support/client.ts";
import { openConsole } from "../../support/console-page.ts";
import { duringSuite } from "../../support/during.ts";
import { startServiceForBrowser } from "../../support/in-process-service.ts";
import { serveLocally } from "../../support/local-server.ts";
import { overflowing } from "../../support/page-widths.ts";
import { adminToken } from "../../support/service.ts";

const auditorToken = "auditor-token-0123456789";

const news = `<!doctype html><html lang="en"><head><title>News</title>
<link rel="stylesheet" href="/site.css"><style>h1 { color: red }</style><script src="/site.js"></script></head><body>
<article><h1>The night train</h1><p class="byline">By Ann Lee</p>
<p style="color: red">It leaves at <b>nine</b>.<sup><a href="#fn1">1</a></sup></p>
<p lang="de">Gute Nacht, Zürich 😴!</p><p style="display: none">Hidden.</p>
<details><summary>More</summary><p>Closed.</p></details>
<script>document.title = "run"; document.querySelector("article").append("Added.");</script>
<img src="/train.png" onerror="document.title='run'">
<div role="doc-endnotes"><p>In summer.</p></div></article>
<article><blockquote>Sleep is the best travel.</blockquote></article></body></html>`;

const rows = [
  ["1", "1", "h1", "en", "The night train", "15"],
  ["2", "1", "p", "en", "It leaves at nine.", "18"],
  ["3", "1", "p", "de", "Gute Nacht, Zürich 😴!", "21"],
  ["4", "2", "blockquote", "en", "Sleep is the best travel.", "25"],
];

const comments = `<article></article>${"<article><p>Well said.</p></article>".repeat(60)}`;
const pages = new Map([
  ["/news", news],
  ["/comments", comments],
]);

describe("the console's preview of what is read of a page", () => {
  const env = { ALLOW_LOOPBACK_UPSTREAMS: "true", AUDITOR_TOKEN: auditorToken };
  const service = duringSuite(() => startServiceForBrowser(env));
  const browser = duringSuite(openBrowser);
  let requested: (string | undefined)[];
  const site = duringSuite(() =>
    serveLocally((req, res) => {
      requested.push(req.url);
      const body = pages.get(req.url ?? "");
      res.writeHead(body ? 200 : 404, { "Content-Type": "text/html; charset=utf-8" }).end(body);
    }),
  );
  const website = duringSuite(() => registerWebsite(service.url));
  before(() => admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [site.url] }));
  beforeEach(() => {
    requested = [];
  });
  afterEach(() => browser.closePages());

  const open = async (token = adminToken) => {
    const opened = await openConsole(browser, service.url, token);
    await opened.goTo(`#/websites/${website.id}`);
    return opened;
  };
  const preview = async (page: Page, path: string): Promise<void> => {
    await page.getByLabel("Page", { exact: true }).fill(site.url + path);
    await page.getByRole("button", { name: "Preview", exact: true }).click();
  };
  const shownRows = async (page: Page): Promise<string[][]> => {
    const table = page.getByRole("table", { name: "Paragraphs that are read" });
    await table.waitFor();
    const cells = (await table.locator("tbody tr").all()).map((row) => row.locator("td").allInnerTexts());
    return await Promise.all(cells);
  };

  it("shows operators and auditors each paragraph with its language and characters, and their sum", async () => {
    for (const token of [adminToken, auditorToken]) {
      const { page, complaints, violations } = await open(token);
      await preview(page, "/news");
      expect(await shownRows(page)).to.deep.equal(rows);
      await page.getByText("4 paragraphs, 79 characters.").waitFor();
      await page.getByText("charged once a calendar month").waitFor();
      expect(await violations()).to.deep.equal([]);
      const others = complaints.filter(
        (text) => !text.includes("violates the following Content Security Policy"),
      );
      expect(others).to.deep.equal([]);
    }
  });

  it("shows the first 50 articles with a text, which get a player", async () => {
    const { page } = await open();
    await preview(page, "/comments");
    const articles = (await shownRows(page)).map(([, article]) => Number(article));
    expect(articles).to.deep.equal(Array.from({ length: 50 }, (_, index) => index + 2));
  });

  it("runs no script of the page and loads nothing that it names", async () => {
    const { page } = await open();
    await preview(page, "/news");
    await shownRows(page);
    await page.waitForLoadState("networkidle");
    expect(requested).to.deep.equal(["/news"]);
    expect(await page.title()).to.not.equal("run");
    await page.getByText("What its scripts add is not seen").waitFor();
  });

  it("reads what the website's configuration names", async () => {
    const webPlayer = { selector: "article", paragraphSelector: "h1", sanitize: { exclude: [".never"] } };
    await admin(service.url, "PUT", `/websites/${website.id}/config`, { features: { webPlayer } });
    const { page } = await open();
    await preview(page, "/news");
    expect(await shownRows(page)).to.deep.equal([rows[0]]);
    await admin(service.url, "PUT", `/websites/${website.id}/config`, {});
  });

  it("says why a page cannot be read", async () => {
    const { page } = await open();
    await preview(page, "/missing");
    await page.getByText("The page cannot be read: the website responded with HTTP 404.").waitFor();
    await page.getByLabel("Page", { exact: true }).fill("https://elsewhere.example/");
    await page.getByRole("button", { name: "Preview", exact: true }).click();
    await page.getByText("https://elsewhere.example is not a verified origin of this website").waitFor();
  });

  it("fits narrow windows", async () => {
    const { page } = await open();
    await preview(page, "/news");
    await shownRows(page);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await overflowing(page)).to.deep.equal([]);
  });
});
