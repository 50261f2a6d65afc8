import type { VNode } from "preact";
import type { WebsitePage } from "../../../application/accounts/website-page.ts";
import type { WebsiteDetails } from "../../../application/accounts/websites.ts";
import { Field, fieldsOf } from "../../components/field.ts";
import { type Column, Table } from "../../components/table.ts";
import { TaskView, useTask } from "../../components/task.ts";
import { formatCount } from "../../format.ts";
import { html } from "../../html.ts";
import { useSession } from "../../session.ts";
import { type PageParagraph, paragraphsOfPage } from "./page-paragraphs.ts";

interface Preview {
  /** The page's address, after redirects. */
  readonly url: string;
  readonly paragraphs: readonly PageParagraph[];
}

/** What the player would read of a page of the website, and what that costs. */
export const PagePreview = ({ website }: { website: WebsiteDetails }): VNode => {
  const { api } = useSession();
  const task = useTask<Preview>();
  const { webPlayer } = website.config.features;
  const [origin] = website.origins;
  const preview = (event: SubmitEvent) => {
    const { url = "" } = fieldsOf(event);
    const path = `admin/websites/${encodeURIComponent(website.id)}/page`;
    task.run(async (signal) => {
      const page = await api.get<WebsitePage>(path, { query: { url }, signal });
      return { url: page.url, paragraphs: paragraphsOfPage(page.html, webPlayer) };
    });
  };
  return html`<section class="card stack">
    <h2>Preview of what is read</h2>
    ${
      origin === undefined
        ? html`<p class="muted">The website has no verified origin, from which a page could be read.</p>`
        : html`<form class="filters" onSubmit=${preview}>
            <${Field} label="Page" control=${{ name: "url", type: "url", required: true, maxlength: 2_000, defaultValue: `${origin}/`, size: 40 }} />
            <button type="submit" class="primary">Preview</button>
          </form>`
    }
    <${TaskView} task=${task} what="Reading the page" />
    ${task.value && html`<${Paragraphs} ...${task.value} selector=${webPlayer.selector} />`}
  </section>`;
};

const Paragraphs = ({ url, paragraphs, selector }: Preview & { selector: string }): VNode => {
  const characters = paragraphs.reduce((sum, paragraph) => sum + paragraph.characters, 0);
  return html`
    <p><code>${url}</code></p>
    <p><strong>${formatCount(paragraphs.length)} paragraphs, ${formatCount(characters)} characters.</strong>
      ${" "}As an article, each paragraph is charged once a calendar month, for all readers together. A paragraph that changes is charged again.</p>
    <p class="muted">This is the page as the server sends it. What its scripts add is not seen, and what its style sheets hide is included.</p>
    <${Table}
      caption="Paragraphs that are read"
      columns=${columns}
      rows=${paragraphs}
      idOf=${({ index }: PageParagraph) => index}
      empty=${`Nothing would be read: no element that matches ${selector} has a text.`}
    />
  `;
};

const columns: readonly Column<PageParagraph>[] = [
  { title: "Paragraph", isNumber: true, value: ({ index }) => index },
  { title: "Article", isNumber: true, value: ({ article }) => article },
  {
    title: "Element",
    value: ({ element }) => element,
    view: ({ element }) => html`<code>${element}</code>`,
  },
  { title: "Language", value: ({ lang }) => lang, view: ({ lang }) => lang ?? "–" },
  {
    title: "Text",
    isSortable: false,
    value: ({ text }) => text,
    view: ({ text, lang }) => html`<span lang=${lang} dir="auto">${text}</span>`,
  },
  {
    title: "Characters",
    isNumber: true,
    value: ({ characters }) => characters,
    view: ({ characters }) => formatCount(characters),
  },
];
