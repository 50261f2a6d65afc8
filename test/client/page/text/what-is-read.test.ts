import { expect } from "chai";
import type { Page } from "playwright-core";
import { completeConfig } from "../../../../src/domain/accounts/website-config.ts";
import { openBrowser } from "../../../support/browser.ts";
import { duringSuite } from "../../../support/during.ts";
import { markedAt, readPage, unsetParagraphSelector } from "./read-page.ts";

describe("what the player reads of an article", () => {
  const browser = duringSuite(openBrowser);
  let page: Page;
  before(async () => {
    page = await browser.context.newPage();
  });
  after(() => browser.closePages());
  const read = (...args: [string, Parameters<typeof readPage>[2]?]) => readPage(page, ...args);

  it("is decided by the player if the configuration sets no paragraphSelector", async () => {
    await read("<p>One.</p>");
    const { paragraphSelector } = completeConfig({}).features.webPlayer;
    expect(paragraphSelector).to.equal(await unsetParagraphSelector(page));
  });

  it("is headings, paragraphs, list items, quotations, captions, terms and their descriptions", async () => {
    const article = `
      <h1>One</h1><h2>Two</h2><h3>Three</h3><h4>Four</h4><h5>Five</h5><h6>Six</h6>
      <p>Paragraph.</p><ul><li>Item.</li></ul><blockquote>Quotation.</blockquote>
      <figure><img alt="Not read" src="data:,"><figcaption>Caption of a figure.</figcaption></figure>
      <dl><dt>Term</dt><dd>Description.</dd></dl>
      <table><caption>Caption of a table.</caption><tr><td>Cell</td><td>Cell</td></tr></table>
      <div>Neither of these.</div>`;
    expect(await read(article)).to.deep.equal([
      ...["One", "Two", "Three", "Four", "Five", "Six", "Paragraph.", "Item.", "Quotation."],
      ...["Caption of a figure.", "Term", "Description.", "Caption of a table."],
    ]);
  });

  it("is what another paragraphSelector names", async () => {
    const article = "<h1>One</h1><p>Two.</p><blockquote>Three.</blockquote><pre><code>Four</code></pre>";
    expect(await read(article, { paragraphSelector: "p, pre" })).to.deep.equal(["Two.", "Four"]);
  });

  it("is each text once, in the innermost element", async () => {
    const article = `
      <blockquote>Before. <p>First.</p><ul><li>Second<ul><li><p>Third.</p></li></ul>still second.</li></ul>
        <footer>After.</footer></blockquote>
      <figure><blockquote><p>Fourth.</p></blockquote><figcaption><p>Fifth.</p>Sixth.</figcaption></figure>
      <dl><dd><p>Seventh.</p><ol><li>Eighth.</li></ol></dd></dl>
      <li><h4>Ninth</h4><figure><figcaption>Tenth.</figcaption></figure></li>`;
    expect(await read(article)).to.deep.equal([
      ...["Before.", "First.", "Second", "Third.", "still second.", "After."],
      ...["Fourth.", "Fifth.", "Sixth.", "Seventh.", "Eighth.", "Ninth", "Tenth."],
    ]);
  });

  it("omits hidden text, controls and code blocks", async () => {
    const article = `
      <p>Read<span hidden> hidden</span><button>Share</button><span style="display:none"> none</span>.</p>
      <p style="visibility:hidden">Invisible.</p><nav><ul><li>Contents</li></ul></nav>
      <pre><code>npm test</code></pre><ul><li>Run <code>npm</code>: <pre><code>npm test</code></pre></li></ul>`;
    expect(await read(article)).to.deep.equal(["Read.", "Run npm:"]);
  });

  it("omits the pronunciation beside a text", async () => {
    const article = "<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>です。</p>";
    expect(await read(article)).to.deep.equal(["漢字です。"]);
  });

  it("omits the marks of footnotes, and keeps other superscripts and links", async () => {
    const article = `
      <p>One<sup><a href="#fn1">1</a></sup>, two<a role="doc-noteref" href="#n2"><sup>2</sup></a>,
        three<sup>[<a href="https://example.com/post/#footnote-3">3</a>]</sup>,
        four<sup class="reference"><a href="#cite_note-4">[4]</a></sup>.</p>
      <h2><a href="#area">Area in m<sup>2</sup></a></h2><p>The 3<sup>rd</sup> <a href="#area">chapter</a>.</p>`;
    expect(await read(article)).to.deep.equal(["One, two, three, four.", "Area in m2", "The 3rd chapter."]);
  });

  it("omits endnotes and asides", async () => {
    const article = `<p>Text.</p>
      <section role="doc-endnotes"><h2>Notes</h2><ol><li>One.</li></ol></section>
      <div class="footnotes"><ol><li>Two.</li></ol></div><p role="doc-footnote">Three.</p>
      <aside><p>Four.</p></aside><div role="complementary"><p>Five.</p></div>`;
    expect(await read(article)).to.deep.equal(["Text."]);
  });

  it("omits advertisements, and nothing whose class is only similar", async () => {
    const article = `
      <ins class="adsbygoogle"><p>One.</p></ins><div id="div-gpt-ad-123-0"><p>Two.</p></div>
      <div class="wide advertisement"><p>Three.</p></div><div aria-label="Advertisement"><p>Four.</p></div>
      <div class="ad-free"><p>Without advertisements.</p></div><p class="category-advertising">A trade.</p>
      <p class="roads">Roads.</p><div id="adverbs"><p>Adverbs.</p></div>`;
    expect(await read(article)).to.deep.equal(["Without advertisements.", "A trade.", "Roads.", "Adverbs."]);
  });

  it("omits bylines that are marked, and keeps an author's name in a sentence, however short", async () => {
    const bio = "has reported on railways since the first of the new night trains left Vienna in 2016.";
    const article = `
      <p class="byline">By Ann Lee</p><p>By <a rel="author" href="/ann">Ann Lee</a>, 3 May 2026</p>
      <p itemprop="author">Ann Lee</p><div itemprop="author" itemscope><p><span itemprop="name">Ann Lee</span></p></div>
      <p>Ann Lee:</p><blockquote><a rel="author" href="/ann">Ann Lee</a>: Sleep is the best travel!</blockquote>
      <div itemprop="author" itemscope><p>She has reported on railways since 2016.</p></div>
      <p><a rel="author" href="/wang">王小明</a>报道，列车今晚九点离开。</p>
      <p><span class="byline">By Ann Lee.</span> It rained.</p><p><a rel="author" href="/ann">Ann Lee</a> ${bio}</p>`;
    expect(await read(article)).to.deep.equal([
      ...["Ann Lee:", "Ann Lee: Sleep is the best travel!", "She has reported on railways since 2016."],
      ...["王小明报道，列车今晚九点离开。", "It rained.", `Ann Lee ${bio}`],
    ]);
  });

  it("includes an article that is an author's page", async () => {
    const article =
      '<main itemprop="author"><h1>Ann Lee</h1><p>By <a rel="author" href="/bo">Bo</a></p></main>';
    expect(await read(article, { selector: "main" })).to.deep.equal(["Ann Lee"]);
    expect(await read(`<div itemprop="author">${article}</div>`, { selector: "main" })).to.deep.equal([
      "Ann Lee",
    ]);
  });

  it("omits what the page marks with data-voxledger-skip, without sanitizing too", async () => {
    const article = `<p>Read<span data-voxledger-skip> not this</span>.</p><section data-voxledger-skip><p>Nor this.</p></section>`;
    expect(await read(article)).to.deep.equal(["Read."]);
    expect(await read(article, { sanitize: { enabled: false } })).to.deep.equal(["Read."]);
    const skipped = "<main data-voxledger-skip><p>The article.</p></main>";
    expect(await read(skipped, { selector: "main" })).to.deep.equal([]);
  });

  it("includes what is omitted by default if the page marks it with data-voxledger-read", async () => {
    const article = `<aside data-voxledger-read><p>Aside.</p></aside><p class="byline" data-voxledger-read>By Ann Lee</p>`;
    expect(await read(article)).to.deep.equal(["Aside.", "By Ann Lee"]);
  });

  describe("of tables", () => {
    const rows = `
      <thead><tr><th>City</th><th>Departs</th><th>Price<sup><a href="#fn1">1</a></sup></th></tr></thead>
      <tbody><tr><th>Paris</th><td>20:15</td><td><b>€</b><b>49</b> <i>only</i></td></tr>
      <tr><th>Rome</th><td></td><td><p>€ 59.</p><ul><li>with bed</li></ul></td></tr></tbody>`;

    it("is the caption only", async () => {
      const table = `<table><caption>Trains</caption>${rows}</table>`;
      expect(await read(table)).to.deep.equal(["Trains"]);
      expect(await read(`<ul><li>Before ${table} after</li></ul>`)).to.deep.equal([
        "Before",
        "Trains",
        "after",
      ]);
    });

    it("is each row with the headers of its columns, if the page marks the table", async () => {
      const table = `<table data-voxledger-read><caption>Trains</caption>${rows}</table>`;
      expect(await read(table)).to.deep.equal([
        "Trains",
        "Paris, Departs: 20:15, Price: €49 only",
        "Rome, Price: € 59. with bed",
      ]);
    });

    it("is each row, if paragraphSelector names rows", async () => {
      expect(await read(`<table>${rows}</table>`, { paragraphSelector: "p, tr" })).to.deep.equal([
        "Paris, Departs: 20:15, Price: €49 only",
        "Rome, Price: € 59. with bed",
      ]);
    });

    it("follows cells that span rows and columns, and rows of headers in groups", async () => {
      const table = `<table data-voxledger-read>
        <tr><th rowspan="2">Day</th><th colspan="2">Price</th></tr><tr><th>Seat</th><th>Bed</th></tr>
        <tr><th colspan="3">Summer</th></tr>
        <tr><td rowspan="2">Monday</td><td>20</td><td>40</td></tr><tr><td>25</td><td>45</td></tr></table>`;
      expect(await read(table)).to.deep.equal([
        "Summer",
        "Day: Monday, Price Seat: 20, Price Bed: 40",
        "Price Seat: 25, Price Bed: 45",
      ]);
    });

    it("is a title above the headers of columns once, on its own", async () => {
      const table = `<table data-voxledger-read><thead><tr><th colspan="2">Trains</th></tr>
        <tr><th>City</th><th>Price</th></tr></thead><tr><td>Rome</td><td>49</td></tr></table>`;
      expect(await read(table)).to.deep.equal(["Trains", "City: Rome, Price: 49"]);
      const column = "<table data-voxledger-read><tr><th>Cities</th></tr><tr><td>Rome</td></tr></table>";
      expect(await read(column)).to.deep.equal(["Cities", "Rome"]);
    });

    it("is a row's header and its cells in a table without headers of columns", async () => {
      const table = `<table data-voxledger-read><tr><th colspan="2">Ann Lee</th></tr>
        <tr><th>Born</th><td>1980</td></tr><tr><th>Lives in</th><td>Rome</td></tr></table>`;
      expect(await read(table)).to.deep.equal(["Ann Lee", "Born: 1980", "Lives in: Rome"]);
    });

    it("is all text of a table that lays out the page", async () => {
      const cells = "<tr><td><p>One.</p></td><td><p>Two.</p></td></tr>";
      expect(await read(`<table role="presentation">${cells}</table>`)).to.deep.equal(["One.", "Two."]);
      expect(await read("<table><tr><td><p>One.</p></td></tr></table>")).to.deep.equal(["One."]);
      expect(await read(`<table>${cells}</table>`)).to.deep.equal([]);
    });

    it("is the paragraphs in cells, if the configuration does not sanitize", async () => {
      const table = "<table><tr><th>City</th><td><p>Rome.</p></td></tr></table>";
      expect(await read(table)).to.deep.equal([]);
      expect(await read(table, { sanitize: { enabled: false } })).to.deep.equal(["Rome."]);
    });

    it("marks the word in the header or the cell that is spoken", async () => {
      await read(`<table data-voxledger-read>${rows}</table>`);
      expect(await markedAt(page, "Departs")).to.equal("Departs");
      expect(await markedAt(page, "€49")).to.equal("€49");
    });
  });
});
