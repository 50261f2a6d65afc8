import { z } from "zod";
import type { Gallery, GalleryVoice } from "../../../application/gallery/gallery.ts";
import { NotFound } from "../../../domain/errors.ts";
import { publicUrlPath } from "../../../domain/synthesis/recipe.ts";
import type { ShortGender } from "../../../domain/synthesis/speech.ts";
import { revalidate } from "../../caching/cache-control.ts";
import { contentSecurityPolicy, etag, ifNoneMatch, noSniff } from "../../kernel/headers.ts";
import { type Operation, queryParams, serviceOperation } from "../../kernel/operation.ts";
import { respondTagged, taggedContent } from "../../kernel/tagged-content.ts";
import { assetsVersion } from "./assets.ts";
import { escapeHtml, languageName, pathToRoot } from "./page.ts";

interface GalleryOptions {
  /** It is undefined if the gallery is switched off. */
  readonly gallery: Gallery | undefined;
}

/**
 * The number of voices on a page. It is limited because a browser makes an element with controls
 * for each.
 */
const pageSize = 24;

/** An option that a form leaves empty is absent. */
const choice = (description: string, example: string) =>
  z
    .string()
    .max(100)
    .transform((value) => value || undefined)
    .optional()
    .meta({ description, examples: [example] });

const filterSchema = z.object({
  lang: choice("The language of the voices, as in the catalog.", "en-GB"),
  gender: z
    .enum(["", "f", "m"])
    .transform((value) => value || undefined)
    .optional(),
  engine: choice("The name of the voices' engine.", "espeak-ng"),
  page: z
    .string()
    .regex(/^[1-9]\d{0,3}$/)
    .transform(Number)
    .default(1)
    .meta({ description: "A page of 24 voices.", examples: ["1"] }),
});
type Filter = z.output<typeof filterSchema>;

const pageHeaders = { ...etag, ...contentSecurityPolicy, ...noSniff };

/** `/voices`: a page that plays a sample of each voice. Its form works without a script. */
export const galleryOperation = ({ gallery }: GalleryOptions): Operation =>
  serviceOperation({
    path: "/voices",
    id: "listenToVoices",
    summary: "Listen to the voices of this installation",
    description:
      "A page with a sample of each voice, the best first. The samples exist before anybody asks for them. With `VOICE_GALLERY=off` there is none.",
    cors: "same origin",
    cache: [revalidate],
    headers: ifNoneMatch,
    query: queryParams(filterSchema),
    responses: {
      200: {
        description: "The page.",
        headers: pageHeaders,
        content: { "text/html": { schema: z.string() } },
      },
      304: { description: "The caller has the page.", headers: pageHeaders },
    },
    errors: [400, 404, 503],
    handle: async ({ query }, ctx) => {
      if (!gallery) throw new NotFound("This installation has no gallery of voices.");
      ctx.set({ "Content-Security-Policy": galleryPolicy, "X-Content-Type-Options": "nosniff" });
      const page = galleryPage(pathToRoot(ctx), gallery, await gallery.voices(), query);
      respondTagged(ctx, taggedContent(Buffer.from(page)), "text/html; charset=utf-8");
    },
  });

/** The policy forbids everything from other origins, and all scripts. */
const galleryPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src data:",
  "media-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const galleryPage = (
  base: string,
  { isSpoken }: Pick<Gallery, "isSpoken">,
  all: readonly GalleryVoice[],
  filter: Filter,
): string => {
  const found = all.filter(
    ({ lang, gender, engine }) =>
      lang === (filter.lang ?? lang) &&
      gender === (filter.gender ?? gender) &&
      engine.name === (filter.engine ?? engine.name),
  );
  const pages = Math.max(1, Math.ceil(found.length / pageSize));
  const page = Math.min(filter.page, pages);
  const shown = found.slice((page - 1) * pageSize, page * pageSize);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Voices · Voxledger</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${base}docs/assets/${assetsVersion}/landing.css">
  </head>
  <body class="wide">
    <main>
      <p><a href="${base}">Voxledger</a></p>
      <h1>Voices</h1>
      <p class="lead">A sample of every voice of this installation.</p>
      ${filterForm(base, all, filter)}
      <p class="note" id="found">${found.length === 1 ? "1 voice" : `${found.length} voices`}${pages > 1 ? `, page ${page} of ${pages}` : ""}</p>
      <ul class="voices" aria-describedby="found">
${shown.map((voice) => card(base, voice, isSpoken(voice))).join("\n")}
      </ul>
      ${pages > 1 ? pager(base, filter, page, pages) : ""}
    </main>
  </body>
</html>
`;
};

const genders: Readonly<Record<ShortGender, string>> = { f: "female", m: "male" };

const filterForm = (base: string, all: readonly GalleryVoice[], filter: Filter): string => {
  const langs = [...new Set(all.map(({ lang }) => lang))].map((lang) => [lang, languageName(lang)] as const);
  const engines = [...new Set(all.map(({ engine }) => engine.name))].map((name) => [name, name] as const);
  return `<form class="filters" action="${base}voices">
        ${select("Language", "lang", langs.sort(byLabel), filter.lang)}
        ${select("Gender", "gender", Object.entries(genders), filter.gender)}
        ${select("Engine", "engine", engines.sort(byLabel), filter.engine)}
        <button>Show</button>
      </form>`;
};

type Choice = readonly [value: string, label: string];

const byLabel = ([, a]: Choice, [, b]: Choice): number => a.localeCompare(b, "en");

const select = (
  label: string,
  name: string,
  choices: readonly Choice[],
  chosen: string | undefined,
): string => {
  const options = choices.map(
    ([value, text]) =>
      `<option value="${escapeHtml(value)}"${value === chosen ? " selected" : ""}>${escapeHtml(text)}</option>`,
  );
  return `<label>${label} <select name="${name}"><option value="">All</option>${options.join("")}</select></label>`;
};

const card = (base: string, voice: GalleryVoice, isSpoken: boolean): string => {
  const { names, lang, gender, engine, licence, sentence, sample } = voice;
  const [name = "", ...others] = names.map(escapeHtml);
  const facts = [
    escapeHtml(languageName(lang)),
    gender && genders[gender],
    escapeHtml(engine.name),
    `${engine.quality} quality`,
    `licence: ${licence === undefined ? "ask the operator" : escapeHtml(licence)}`,
  ].filter(Boolean);
  const url = `${base}${publicUrlPath(sample.name).slice(1)}`;
  return `        <li>
          <h2>${name}</h2>
          <p class="note">${facts.join(" · ")}</p>${others.length > 0 ? `\n          <p class="note">Also: ${others.join(", ")}</p>` : ""}
          <p lang="${escapeHtml(lang)}" dir="auto">${escapeHtml(sentence)}</p>
          ${
            isSpoken
              ? `<audio controls preload="none" src="${url}" aria-label="Sample of ${name}"></audio>`
              : `<p class="note">The sample has not been spoken yet.</p>`
          }
        </li>`;
};

const pager = (base: string, { lang, gender, engine }: Filter, page: number, pages: number): string => {
  const link = (to: number, label: string, rel: string): string => {
    if (to < 1 || to > pages) return "";
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ lang, gender, engine, page: String(to) }))
      if (value !== undefined) query.set(name, value);
    return `<a rel="${rel}" href="${base}voices?${escapeHtml(query.toString())}">${label}</a>`;
  };
  return `<nav class="pages" aria-label="Pages">${link(page - 1, "Previous page", "prev")} ${link(page + 1, "Next page", "next")}</nav>`;
};
