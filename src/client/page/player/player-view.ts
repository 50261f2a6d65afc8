import type { WebPlayerFeature } from "../../voxledger.ts";
import { element, formatTime, icon, iconButton, setIcon } from "./elements.ts";
import { fillLabel, type PlayerLabels } from "./labels.ts";
import type { Reading } from "./reading.ts";
import { applyTheme, playerSheet } from "./theme.ts";

/** A player's element, and the function that shows the current state in it. */
export interface PlayerView {
  readonly host: HTMLElement;
  update(): void;
}

export interface Part {
  readonly node: Node;
  update?(): void;
}

/**
 * The player of an article: real buttons in a shadow root, so that the page's styles do not change
 * it.
 */
export const createPlayerView = (
  reading: Reading,
  labels: PlayerLabels,
  { controls, theme, layout }: Pick<WebPlayerFeature, "controls" | "theme" | "layout">,
  { share, serviceUrl }: { readonly share: readonly Part[]; readonly serviceUrl: string },
): PlayerView => {
  const { progress, time, skip, speed, brand } = controls;
  const { labels: texts } = labels;
  const host = createHost("article", labels, [playerSheet()]);
  applyTheme(host, theme);
  Object.assign(host.dataset, { mode: layout.mode, display: layout.display });
  const parts: Part[] = [
    ...(brand.icon ? [brandIcon()] : []),
    playButton(reading, texts, { withText: true }),
    ...(skip ? [skipButtons(reading, texts)] : []),
    ...(progress ? [progressSlider(reading, texts)] : []),
    ...(time ? [timeText(reading, texts)] : []),
    ...(speed ? [speedSelect(reading, texts)] : []),
    ...share,
    ...(brand.poweredBy ? [poweredBy(texts, serviceUrl)] : []),
    statusText(reading, texts),
  ];
  return assemble(host, parts);
};

/** An element with a shadow root that has one labelled section. */
export const createHost = (
  label: "article" | "miniPlayer",
  { lang, dir, labels }: PlayerLabels,
  sheets: CSSStyleSheet[],
): HTMLElement => {
  const host = Object.assign(document.createElement("voxledger-player"), { lang, dir });
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = sheets;
  const section = element("section", { ariaLabel: labels[label] });
  if (label === "article" && hasPlayerNamed(labels.article)) section.role = "group";
  root.append(section);
  return host;
};

/** Landmarks on a page must have different names. */
const hasPlayerNamed = (name: string): boolean =>
  [...document.querySelectorAll("voxledger-player")].some(
    ({ shadowRoot }) => shadowRoot?.querySelector("section")?.ariaLabel === name,
  );

export const assemble = (host: HTMLElement, parts: readonly Part[]): PlayerView => {
  host.shadowRoot?.querySelector("section")?.append(...parts.map(({ node }) => node));
  const update = (): void => {
    for (const part of parts) part.update?.();
  };
  update();
  return { host, update };
};

type Texts = PlayerLabels["labels"];

const playLabels = {
  idle: "listen",
  failed: "tryAgain",
  unavailable: "listen",
  paused: "resume",
  loading: "pause",
  playing: "pause",
} as const;

export const playButton = (reading: Reading, texts: Texts, { withText }: { withText: boolean }): Part => {
  const button = iconButton("play", texts.listen, () => reading.toggle());
  const text = element("span");
  const svg = button.querySelector("svg");
  button.className = "play";
  if (withText) {
    button.append(text);
    button.removeAttribute("aria-label");
  }
  return {
    node: button,
    update: () => {
      const name = playLabels[reading.status];
      const label = texts[name];
      button.title = label;
      if (withText) text.textContent = label;
      else button.ariaLabel = label;
      button.ariaBusy = String(reading.status === "loading" || reading.isWaiting);
      if (svg) setIcon(svg, name === "pause" ? "pause" : "play");
    },
  };
};

export const skipButtons = (reading: Reading, texts: Texts): Part => {
  const back = iconButton("previous", texts.previous, () => reading.skipParagraphs(-1));
  const forward = iconButton("next", texts.next, () => reading.skipParagraphs(1));
  const node = element("span", { className: "skips" }, back, forward);
  for (const button of [back, forward]) button.classList.add("skip");
  return {
    node,
    // The buttons are not disabled at the ends: a button that is disabled loses the focus.
    update: () => {
      back.ariaDisabled = String(reading.paragraph === 0);
      forward.ariaDisabled = String(reading.paragraph >= reading.paragraphCount - 1);
    },
  };
};

const sliderSteps = 1_000;

const progressSlider = (reading: Reading, texts: Texts): Part => {
  const slider = element("input", {
    className: "progress",
    type: "range",
    max: String(sliderSteps),
    value: "0",
    ariaLabel: texts.position,
  });
  let isDragged = false;
  const show = (): void => {
    const done = Number(slider.value) / sliderSteps;
    slider.style.setProperty("--done", `${(done * 100).toFixed(1)}%`);
  };
  slider.addEventListener("input", () => {
    isDragged = true;
    show();
  });
  slider.addEventListener("change", () => {
    isDragged = false;
    reading.seek(Number(slider.value) / sliderSteps);
  });
  slider.addEventListener("keydown", (event) => moveByParagraph(event, reading));
  return {
    node: slider,
    update: () => {
      if (isDragged) return;
      slider.value = String(Math.round(reading.progress * sliderSteps));
      slider.setAttribute(
        "aria-valuetext",
        fillLabel(texts.paragraph, { n: reading.paragraph + 1, count: reading.paragraphCount }),
      );
      show();
    },
  };
};

/** A step of the slider is shorter than a word, so the arrow keys move by paragraphs. */
const moveByParagraph = (event: KeyboardEvent, reading: Reading): void => {
  const isRightToLeft = getComputedStyle(event.target as Element).direction === "rtl";
  const forward = ["ArrowUp", "PageUp", isRightToLeft ? "ArrowLeft" : "ArrowRight"];
  const back = ["ArrowDown", "PageDown", isRightToLeft ? "ArrowRight" : "ArrowLeft"];
  const step = forward.includes(event.key) ? 1 : back.includes(event.key) ? -1 : undefined;
  if (step === undefined || event.altKey) return;
  event.preventDefault();
  reading.skipParagraphs(step);
};

const timeText = (reading: Reading, texts: Texts): Part => {
  const node = element("span", { className: "time", role: "timer", ariaLabel: texts.time });
  return {
    node,
    update: () => {
      node.textContent = `${formatTime(reading.seconds)} / ${formatTime(reading.totalSeconds)}`;
    },
  };
};

const speeds = [0.75, 1, 1.25, 1.5, 1.75, 2];

const speedSelect = (reading: Reading, texts: Texts): Part => {
  const options = speeds.map((speed) =>
    element("option", { value: String(speed), textContent: `${speed}×`, defaultSelected: speed === 1 }),
  );
  const select = element("select", { ariaLabel: texts.speed, title: texts.speed }, ...options);
  select.addEventListener("change", () => reading.setSpeed(Number(select.value)));
  return {
    node: select,
    update: () => {
      select.value = String(reading.speed);
    },
  };
};

const brandIcon = (): Part => {
  const svg = icon("brand");
  svg.classList.add("brand");
  return { node: svg };
};

const poweredBy = (texts: Texts, serviceUrl: string): Part => ({
  node: element(
    "a",
    { className: "powered", href: serviceUrl, target: "_blank", rel: "noopener" },
    texts.poweredBy,
  ),
});

const statusText = (reading: Reading, texts: Texts): Part => {
  const node = element("span", { className: "status", role: "status" });
  return {
    node,
    update: () => {
      const { status } = reading;
      const waiting = reading.isWaiting ? texts.waiting : "";
      const text = status === "failed" || status === "unavailable" ? texts[status] : waiting;
      if (node.textContent !== text) node.textContent = text;
    },
  };
};
