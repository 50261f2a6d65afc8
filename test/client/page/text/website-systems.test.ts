import { expect } from "chai";
import { openBrowser } from "../../../support/browser.ts";
import { duringSuite } from "../../../support/during.ts";
import { previewPage, readPage } from "./read-page.ts";

/** Articles as the systems of websites write them, and what is read of each. */
const systems: Readonly<Record<string, readonly [html: string, read: readonly string[]]>> = {
  WordPress: [
    `<header class="entry-header"><h1 class="entry-title">The night train</h1>
      <div class="entry-meta"><span class="posted-on">Posted on <time datetime="2026-05-03">May 3, 2026</time></span>
        <span class="byline"> by <span class="author vcard"><a class="url fn n" href="/author/ann/" rel="author">Ann Lee</a></span></span></div></header>
    <div class="entry-content">
      <p class="wp-block-paragraph">It leaves at nine.<sup data-fn="8f14" class="fn"><a href="#8f14" id="8f14-link">1</a></sup></p>
      <figure class="wp-block-image size-large"><img src="data:," alt="A train"><figcaption class="wp-element-caption">The train in Vienna.</figcaption></figure>
      <blockquote class="wp-block-quote"><p>Sleep is the best travel.</p><cite>A conductor</cite></blockquote>
      <figure class="wp-block-pullquote"><blockquote><p>Pulled.</p></blockquote></figure>
      <ul class="wp-block-list"><li>A seat</li><li>A bed<ul class="wp-block-list"><li>With breakfast</li></ul></li></ul>
      <figure class="wp-block-table"><table><thead><tr><th>City</th><th>Price</th></tr></thead><tbody><tr><td>Rome</td><td>49</td></tr></tbody></table><figcaption class="wp-element-caption">Prices in May.</figcaption></figure>
      <pre class="wp-block-code"><code>GET /trains</code></pre>
      <div class="wp-block-buttons"><div class="wp-block-button"><a class="wp-block-button__link" href="/book">Book</a></div></div>
      <ins class="adsbygoogle" data-ad-client="ca-pub-1"></ins>
      <ol class="wp-block-footnotes"><li id="8f14">In summer. <a href="#8f14-link" aria-label="Jump to footnote reference 1">↩︎</a></li></ol>
      <div class="sharedaddy sd-sharing-enabled"><h3 class="sd-title">Share this:</h3><ul><li><a href="#">Facebook</a></li></ul></div>
    </div>`,
    [
      ...["The night train", "It leaves at nine.", "The train in Vienna.", "Sleep is the best travel."],
      ...["A conductor", "Pulled.", "A seat", "A bed", "With breakfast", "Prices in May."],
    ],
  ],
  Ghost: [
    `<header class="gh-article-header"><h1 class="gh-article-title">The night train</h1><p class="gh-article-excerpt">A journey.</p></header>
    <section class="gh-content"><p>It leaves at nine<sup class="footnote-ref"><a href="#fn1" id="fnref1">[1]</a></sup>.</p>
      <div class="kg-card kg-callout-card kg-callout-card-blue"><div class="kg-callout-emoji">💡</div><div class="kg-callout-text">Bring water.</div></div>
      <figure class="kg-card kg-image-card kg-card-hascaption"><img src="data:,"><figcaption><span style="white-space: pre-wrap;">The train.</span></figcaption></figure>
      <figure class="kg-card kg-code-card"><pre><code class="language-js">train()</code></pre><figcaption><p><span>How it starts</span></p></figcaption></figure>
      <blockquote class="kg-blockquote-alt">Sleep is the best travel.</blockquote>
      <div class="kg-card kg-signup-card"><h2>Sign up</h2><p>No spam.</p></div>
      <hr class="footnotes-sep"><section class="footnotes"><ol class="footnotes-list"><li id="fn1" class="footnote-item"><p>In summer. <a href="#fnref1" class="footnote-backref">↩︎</a></p></li></ol></section>
    </section>`,
    [
      ...["The night train", "A journey.", "It leaves at nine.", "The train.", "How it starts"],
      "Sleep is the best travel.",
    ],
  ],
  MediaWiki: [
    `<div class="mw-parser-output"><style data-mw-deduplicate="x">.mw{}</style>
      <div role="note" class="hatnote navigation-not-searchable">For the film, see elsewhere.</div>
      <table class="infobox"><tbody><tr><th colspan="2" class="infobox-above">Night train</th></tr><tr><th scope="row">First run</th><td><ul><li>1883</li></ul></td></tr></tbody></table>
      <p>A <b>night train</b> runs at night.<sup id="cite_ref-1" class="reference"><a href="#cite_note-1"><span class="cite-bracket">&#91;</span>1<span class="cite-bracket">&#93;</span></a></sup><sup class="noprint Inline-Template">[<i><a href="/wiki/Citation">citation needed</a></i>]</sup></p>
      <div id="toc" class="toc" role="navigation"><ul><li>History</li></ul></div>
      <div class="mw-heading mw-heading2"><h2 id="History">History</h2><span class="mw-editsection">[<a href="?edit">edit</a>]</span></div>
      <h3><span class="mw-headline" id="Start">Start</span><span class="mw-editsection">[<a href="?edit">edit</a>]</span></h3>
      <figure class="mw-default-size" typeof="mw:File/Thumb"><a href="/f"><img src="data:,"></a><figcaption>A sleeping car</figcaption></figure>
      <table class="wikitable"><caption>Routes</caption><tbody><tr><th>From</th><th>To</th></tr><tr><td>Vienna</td><td>Rome</td></tr></tbody></table>
      <dl><dt>Berth</dt><dd>A bed in a train.</dd></dl>
      <div class="reflist"><div class="mw-references-wrap"><ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink"><b><a href="#cite_ref-1">^</a></b></span> <span class="reference-text"><cite>Lee, Ann.</cite></span></li></ol></div></div>
      <div role="navigation" class="navbox"><table><tr><td><ul><li>Trains</li></ul></td></tr></table></div></div>`,
    [
      ...["A night train runs at night.", "History", "Start", "A sleeping car", "Routes"],
      ...["Berth", "A bed in a train."],
    ],
  ],
  Substack: [
    `<div class="post-header"><h1 class="post-title published">The night train</h1><h3 class="subtitle">A journey</h3></div>
    <div class="available-content"><div class="body markup"><p>It leaves at nine.<a class="footnote-anchor" data-component-name="FootnoteAnchorToDOM" id="footnote-anchor-1" href="#footnote-1" target="_self">1</a></p>
      <div class="captioned-image-container"><figure><a class="image-link"><div class="image2-inset"><img src="data:,"><button>Expand</button></div></a><figcaption class="image-caption">The train.</figcaption></figure></div>
      <div class="pullquote"><p>Sleep is the best travel.</p></div>
      <div class="subscription-widget-wrap"><div class="subscription-widget show-subscribe"><p class="cta-caption">Thanks for reading!</p><form><input></form></div></div>
      <ul><li><p>A seat</p></li><li><p>A bed</p></li></ul>
      <div class="footnote" data-component-name="FootnoteToDOM"><a id="footnote-1" href="#footnote-anchor-1" class="footnote-number">1</a><div class="footnote-content"><p>In summer.</p></div></div></div></div>`,
    [
      ...["The night train", "A journey", "It leaves at nine.", "The train.", "Sleep is the best travel."],
      ...["A seat", "A bed"],
    ],
  ],
  mdBook: [
    `<h1 id="trains"><a class="header" href="#trains">Night trains</a></h1>
      <p>Run <code>book</code><sup class="footnote-reference"><a href="#1">1</a></sup>:</p>
      <pre><div class="buttons"><button class="clip-button"></button></div><code class="language-sh hljs">book rome</code></pre>
      <ol><li>Choose:<pre><code>choose bed</code></pre></li><li><p>Pay.</p></li></ol>
      <div class="table-wrapper"><table><thead><tr><th>Option</th><th>Meaning</th></tr></thead><tbody><tr><td><code>-b</code></td><td>a bed</td></tr></tbody></table></div>
      <blockquote><p><strong>Note:</strong> no refunds.</p></blockquote>
      <div class="footnote-definition" id="1"><sup class="footnote-definition-label">1</sup><p>In summer.</p></div>`,
    ["Night trains", "Run book:", "Choose:", "Pay.", "Note: no refunds."],
  ],
  Sphinx: [
    `<section id="trains"><h1>Night trains<a class="headerlink" href="#trains" title="Link to this heading">¶</a></h1>
      <p>Book early. <a class="footnote-reference brackets" href="#id2" id="id1" role="doc-noteref"><span class="fn-bracket">[</span>1<span class="fn-bracket">]</span></a></p>
      <div class="admonition note"><p class="admonition-title">Note</p><p>No refunds of <math><semantics><mi>x</mi><annotation encoding="application/x-tex">\\xi</annotation></semantics></math> euros.</p></div>
      <dl class="py function"><dt class="sig sig-object"><span class="sig-name">book</span>(<em>to</em>)<a class="headerlink" href="#book">¶</a></dt><dd><p>Books a train.</p></dd></dl>
      <div class="highlight-python notranslate"><div class="highlight"><pre>book("Rome")</pre></div></div>
      <aside class="footnote-list brackets"><aside class="footnote brackets" id="id2" role="doc-footnote"><p>In summer.</p></aside></aside></section>`,
    ["Night trains", "Book early.", "Note", "No refunds of x euros.", "book(to)", "Books a train."],
  ],
};

describe("what the player reads of pages of common systems", () => {
  const browser = duringSuite(openBrowser);
  after(() => browser.closePages());

  for (const [system, [html, read]] of Object.entries(systems))
    it(`is the text that ${system} publishes, without marks, notes and controls, and so is the console's preview`, async () => {
      const page = await browser.context.newPage();
      expect(await readPage(page, html)).to.deep.equal(read);
      expect(await previewPage(page, html)).to.deep.equal(read);
    });
});
