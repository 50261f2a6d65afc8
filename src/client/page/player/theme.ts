import type { WebPlayerFeature } from "../../voxledger.ts";

/** Returns the custom property of a theme token: `--accent-soft` for `accentSoft`. */
const propertyOf = (token: string): string => `--${token.replace(/[A-Z]/g, "-$&").toLowerCase()}`;

/**
 * Applies the tokens of a theme to a player. `bg` on `accent` and `fg` on `bg` need a contrast of
 * 4.5 to 1.
 */
export const applyTheme = (host: HTMLElement, theme: WebPlayerFeature["theme"]): void => {
  if (typeof theme === "string") {
    host.dataset.theme = theme;
    return;
  }
  host.dataset.theme = "neutral";
  for (const [token, value] of Object.entries(theme))
    host.style.setProperty(propertyOf(token), value ?? null);
};

/**
 * The page's own colour scheme decides between light and dark. Browsers without `light-dark()` show
 * the light theme.
 */
const colors = `
:host {
  --bg: #ffffff; --fg: #1b1f24; --muted: #57606a; --accent: #0b57d0; --accent-soft: #dbe7fd;
  --hover: #eef1f4; --border: #c3cad1; --track: #8c959f; --fill: #0b57d0;
}
:host([data-theme=brand]) {
  --bg: #f7f4ff; --fg: #22183d; --muted: #5a4f78; --accent: #5b2fc4; --accent-soft: #e4d9ff;
  --hover: #ebe4fc; --border: #c9bce8; --track: #8f80b8; --fill: #5b2fc4;
}
@supports (color: light-dark(#fff, #000)) {
  :host {
    --bg: light-dark(#ffffff, #1c2128); --fg: light-dark(#1b1f24, #e6edf3);
    --muted: light-dark(#57606a, #9da7b3); --accent: light-dark(#0b57d0, #8ab4f8);
    --accent-soft: light-dark(#dbe7fd, #23395d); --hover: light-dark(#eef1f4, #2d333b);
    --border: light-dark(#c3cad1, #444c56); --track: light-dark(#8c959f, #768390);
    --fill: light-dark(#0b57d0, #8ab4f8);
  }
  :host([data-theme=brand]) {
    --bg: light-dark(#f7f4ff, #211a38); --fg: light-dark(#22183d, #ece6ff);
    --muted: light-dark(#5a4f78, #b3a7d6); --accent: light-dark(#5b2fc4, #c4b0ff);
    --accent-soft: light-dark(#e4d9ff, #3b2d66); --hover: light-dark(#ebe4fc, #2e2450);
    --border: light-dark(#c9bce8, #4d4175); --track: light-dark(#8f80b8, #8d80b5);
    --fill: light-dark(#5b2fc4, #c4b0ff);
  }
}`;

const layout = `
:host { display: block; margin-block: 1rem; font: 400 15px/1.3 system-ui, sans-serif; text-align: start; }
:host([data-display=inline]) { display: inline-block; vertical-align: middle; max-width: 100%; }
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
section {
  display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .5rem; width: fit-content; max-width: 100%;
  min-height: 3.5rem; padding: .5rem .75rem; color: var(--fg); background: var(--bg);
  border: 1px solid var(--border); border-radius: .875rem;
}
:host([data-mode=fill]) section { width: 100%; }
:host([data-mode=fill]) .progress { max-width: none; }
svg { display: block; width: 1.25rem; height: 1.25rem; fill: currentColor; }
.brand { color: var(--accent); }
button, select {
  font: inherit; color: inherit; background: transparent; border: 0; border-radius: .5rem; cursor: pointer;
  min-width: 2.25rem; min-height: 2.25rem; padding: .4rem; display: inline-grid; place-items: center;
}
select { border: 1px solid var(--border); background: var(--bg); padding: 0; width: 4.25rem; direction: ltr; }
button:hover, select:hover { background: var(--hover); }
[aria-disabled=true], [aria-disabled=true]:hover { opacity: .45; cursor: default; background: transparent; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.play { display: inline-flex; gap: .35rem; align-items: center; padding-inline: .7rem .9rem; font-weight: 600;
  color: var(--bg); background: var(--accent); border-radius: 999px; min-height: 2.5rem; }
.play:hover { color: var(--accent); background: var(--accent-soft); }
.play[aria-busy=true] svg { animation: pulse 1s ease-in-out infinite alternate; }
@keyframes pulse { to { opacity: .35; } }
:host(:dir(rtl)) .skip svg { transform: scaleX(-1); }
.skips { display: inline-flex; }
.time { color: var(--muted); font-size: .8125rem; font-variant-numeric: tabular-nums; min-width: 5.5em; text-align: center;
  direction: ltr; }
.powered { color: var(--muted); font-size: .75rem; text-decoration: none; }
.powered:hover { text-decoration: underline; }
.status { flex-basis: 100%; font-size: .8125rem; }
.status:empty { display: none; }
.progress {
  --done: 0%; appearance: none; flex: 1 1 5rem; width: 9rem; min-width: 5rem; max-width: 9rem; height: 1.5rem; margin: 0; background: transparent; cursor: pointer;
}
.progress::-webkit-slider-runnable-track {
  height: 6px; border-radius: 3px; background: linear-gradient(to right, var(--fill) var(--done), var(--track) var(--done));
}
:host(:dir(rtl)) .progress::-webkit-slider-runnable-track {
  background: linear-gradient(to left, var(--fill) var(--done), var(--track) var(--done));
}
.progress::-webkit-slider-thumb {
  appearance: none; width: 16px; height: 16px; margin-top: -5px; border-radius: 50%; background: var(--fill); border: 2px solid var(--bg);
}
.progress::-moz-range-track { height: 6px; border-radius: 3px; background: var(--track); }
.progress::-moz-range-progress { height: 6px; border-radius: 3px; background: var(--fill); }
.progress::-moz-range-thumb { width: 14px; height: 14px; border-radius: 50%; background: var(--fill); border: 2px solid var(--bg); }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }
@media print { :host { display: none !important; } }`;

/**
 * Windows' contrast themes replace colours, and remove gradients and shadows. The system's colours
 * replace those of the configuration too.
 */
const forcedColors = `
@media (forced-colors: active) {
  :host {
    --bg: Canvas !important; --fg: CanvasText !important; --muted: CanvasText !important;
    --accent: ButtonText !important; --accent-soft: ButtonFace !important; --hover: ButtonFace !important;
    --border: CanvasText !important; --track: Canvas !important; --fill: Highlight !important;
  }
  button { border: 1px solid ButtonBorder; }
  button:hover { border-color: Highlight; }
  [aria-disabled=true] { opacity: 1; color: GrayText; border-color: GrayText; }
  :focus-visible { outline-color: Highlight; }
  .powered { color: LinkText; }
  .progress { forced-color-adjust: none; }
  .progress::-webkit-slider-runnable-track { border: 1px solid CanvasText; }
  .progress::-moz-range-track { border: 1px solid CanvasText; }
  .progress::-webkit-slider-thumb { margin-top: -6px; border-color: CanvasText; }
  .progress::-moz-range-thumb { border-color: CanvasText; }
}`;

const mini = `
:host { position: fixed; z-index: 2147483000; margin: 0; max-width: calc(100vw - 2rem); }
:host([data-no-place]) { visibility: hidden; }
:host([data-position^=top]) { top: 1rem; }
:host([data-position^=bottom]) { bottom: 1rem; }
:host([data-position$=left]) { left: 1rem; }
:host([data-position$=right]) { right: 1rem; }
section { box-shadow: 0 6px 24px rgb(0 0 0 / .25); flex-wrap: nowrap; min-height: 3rem; padding: .375rem .5rem; gap: .125rem; }
.play { padding-inline: .65rem; }
:host([data-animation=fade]) { animation: fade .2s ease-out; }
:host([data-animation=slide]) { animation: slide .25s ease-out; }
:host([data-animation=pop]) { animation: pop .2s ease-out; }
:host([data-position^=top][data-animation=slide]) { --from: -1.5rem; }
@keyframes fade { from { opacity: 0; } }
@keyframes slide { from { opacity: 0; transform: translateY(var(--from, 1.5rem)); } }
@keyframes pop { from { opacity: 0; transform: scale(.8); } }
@media (prefers-reduced-motion: reduce) { :host { animation: none !important; } }`;

const sheetOf = (css: string): CSSStyleSheet => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
};

/** Every content security policy allows a style sheet that a script creates. */
export const playerSheet = (): CSSStyleSheet => sheetOf(colors + layout + forcedColors);
export const miniPlayerSheet = (): CSSStyleSheet => sheetOf(colors + layout + mini + forcedColors);
