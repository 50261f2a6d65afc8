import type { GalleryVoice } from "../../../application/gallery/gallery.ts";
import { assetsVersion } from "./assets.ts";
import { escapeHtml, languageName } from "./page.ts";

export const summary =
  "A self-hosted text-to-speech service: text in, audio out, every request accounted for.";

/** The pages and documents of the service, relative to its root. */
export const links = {
  voices: { path: "voices", text: "Voices to listen to" },
  reproduce: { path: "reproduce", text: "Compute audio again, and compare it with what was charged" },
  docs: { path: "docs", text: "API documentation" },
  openapi: { path: "openapi.json", text: "OpenAPI document" },
  health: { path: "health", text: "Health of the service" },
  console: { path: "console", text: "Console for operators and auditors" },
  client: { path: "client.js", text: "Client library for browsers" },
} as const;

const sentence = "The train to Oxford leaves at nine.";

const defaultVoice = "UK English Female";

/**
 * Lists the voices with friendly names, grouped by language. Without any, it is a field for a name.
 */
const voiceField = (voices: readonly GalleryVoice[]): string => {
  const named = voices.flatMap(({ names, isFriendly, lang }) =>
    isFriendly ? names.map((name) => ({ name, language: languageName(lang) })) : [],
  );
  if (named.length === 0) return `<input name="voice" value="${defaultVoice}" required>`;
  const groups = [...Map.groupBy(named, ({ language }) => language)]
    .sort(([a], [b]) => a.localeCompare(b, "en"))
    .map(
      ([language, group]) =>
        `<optgroup label="${escapeHtml(language)}">${group.map(({ name }) => option(name)).join("")}</optgroup>`,
    );
  return `<select name="voice" required>${groups.join("")}</select>`;
};

const option = (name: string): string =>
  `<option${name === defaultVoice ? " selected" : ""}>${escapeHtml(name)}</option>`;

interface LandingPage {
  /** The path of the service's root, as a prefix of relative paths. */
  readonly base: string;
  readonly links: Partial<typeof links>;
  readonly voices: readonly GalleryVoice[];
}

export const landingPage = ({ base, links, voices }: LandingPage): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Voxledger</title>
    <meta name="description" content="${summary}">
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${base}docs/assets/${assetsVersion}/landing.css">
    <script type="module" src="${base}docs/assets/${assetsVersion}/landing.js"></script>
  </head>
  <body>
    <main>
      <h1>Voxledger</h1>
      <p class="lead">${summary}</p>
      <p>The same request always gives the same audio, under a permanent name. Programs call it over HTTP and WebSocket,
        with OpenAI's and ElevenLabs' clients, and over Home Assistant's protocol; pages show a player for their articles.</p>
      <section aria-labelledby="try-title">
        <h2 id="try-title">Try a sentence</h2>
        <form id="try" data-base="${base}" autocomplete="off">
          <label>Text
            <textarea name="text" rows="2" maxlength="1000" required>${sentence}</textarea></label>
          <div class="pair">
            <label>Voice
              ${voiceField(voices)}</label>
            <label>API key
              <input name="key" placeholder="vlk_…" required spellcheck="false"></label>
          </div>
          <label>API secret
            <input name="secret" type="password" autocomplete="off" aria-describedby="secret-note"></label>
          <p class="note" id="secret-note">Not needed if this page's origin is a verified origin of the key. The text is charged to
            the key; key and secret are not stored.</p>
          <button>Speak</button>
          <audio controls hidden></audio>
          <p class="note" id="status" role="status"></p>
          <noscript><p class="note">The form needs JavaScript.</p></noscript>
        </form>
      </section>
      <nav aria-label="Service">
        <ul>
${Object.values(links)
  .map(({ path, text }) => `          <li><a href="${base}${path}">${text}</a> <code>/${path}</code></li>`)
  .join("\n")}
        </ul>
      </nav>
    </main>
  </body>
</html>
`;

/**
 * The policy forbids everything from other origins, and everything inline. The form is sent by the
 * page's script, never by the browser.
 */
export const landingPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "media-src blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
