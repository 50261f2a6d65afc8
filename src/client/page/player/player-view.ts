import type { WebPlayerFeature } from "../../voxledger.ts";
import { element, formatTime, icon, iconButton, setIcon } from "./elements.ts";
import type { Reading } from "./reading.ts";
import { applyTheme, playerSheet } from "./theme.ts";

/** A player's element, and the function that shows the current state in it. */
export interface PlayerView {
  readonly host: HTMLElement;
  update(): void;
}

interface Part {
  readonly node: Node;
  update?(): void;
}

/**
 * The player of an article: real buttons in a shadow root, so that the page's styles do not change
 * it.
 */
export const createPlayerView = (
  reading: Reading,
  { controls, theme, layout }: Pick<WebPlayerFeature, "controls" | "theme" | "layout">,
  serviceUrl: string,
): PlayerView => {
  const { progress, time, skip, speed, brand } = controls;
  const host = createHost("Listen to this article", [playerSheet()]);
  applyTheme(host, theme);
  Object.assign(host.dataset, { mode: layout.mode, display: layout.display });
  const parts: Part[] = [
    ...(brand.icon ? [brandIcon()] : []),
    playButton(reading, { withText: true }),
    ...(skip ? [skipButtons(reading)] : []),
    ...(progress ? [progressSlider(reading)] : []),
    ...(time ? [timeText(reading)] : []),
    ...(speed ? [speedSelect(reading)] : []),
    ...(brand.poweredBy ? [poweredBy(serviceUrl)] : []),
    statusText(reading),
  ];
  return assemble(host, parts);
};

/**
 * An element with a shadow root that has one labelled section. Its labels are English on every
 * page.
 */
export const createHost = (label: string, sheets: CSSStyleSheet[]): HTMLElement => {
  const host = document.createElement("voxledger-player");
  host.lang = "en";
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = sheets;
  root.append(element("section", { ariaLabel: label }));
  return host;
};

export const assemble = (host: HTMLElement, parts: readonly Part[]): PlayerView => {
  host.shadowRoot?.querySelector("section")?.append(...parts.map(({ node }) => node));
  const update = (): void => {
    for (const part of parts) part.update?.();
  };
  update();
  return { host, update };
};

const playLabels = { idle: "Listen", failed: "Listen", paused: "Resume", loading: "Pause", playing: "Pause" };

export const playButton = (reading: Reading, { withText }: { withText: boolean }): Part => {
  const button = iconButton("play", "Listen", () => reading.toggle());
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
      const label = playLabels[reading.status];
      button.title = label;
      if (withText) text.textContent = label;
      else button.ariaLabel = label;
      button.ariaBusy = String(reading.status === "loading");
      if (svg) setIcon(svg, label === "Pause" ? "pause" : "play");
    },
  };
};

export const skipButtons = (reading: Reading): Part => {
  const back = iconButton("previous", "Previous paragraph", () => reading.skipParagraphs(-1));
  const forward = iconButton("next", "Next paragraph", () => reading.skipParagraphs(1));
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

const progressSlider = (reading: Reading): Part => {
  const slider = element("input", {
    className: "progress",
    type: "range",
    max: String(sliderSteps),
    value: "0",
    ariaLabel: "Position",
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
        `Paragraph ${reading.paragraph + 1} of ${reading.paragraphCount}`,
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

const timeText = (reading: Reading): Part => {
  const node = element("span", { className: "time", role: "timer", ariaLabel: "Time" });
  return {
    node,
    update: () => {
      node.textContent = `${formatTime(reading.seconds)} / ${formatTime(reading.totalSeconds)}`;
    },
  };
};

const speeds = [0.75, 1, 1.25, 1.5, 1.75, 2];

const speedSelect = (reading: Reading): Part => {
  const options = speeds.map((speed) =>
    element("option", { value: String(speed), textContent: `${speed}×`, defaultSelected: speed === 1 }),
  );
  const select = element("select", { ariaLabel: "Speed", title: "Speed" }, ...options);
  select.addEventListener("change", () => reading.setSpeed(Number(select.value)));
  return { node: select };
};

const brandIcon = (): Part => {
  const svg = icon("brand");
  svg.classList.add("brand");
  return { node: svg };
};

const poweredBy = (serviceUrl: string): Part => ({
  node: element(
    "a",
    { className: "powered", href: serviceUrl, target: "_blank", rel: "noopener" },
    "Powered by Voxledger",
  ),
});

const statusText = (reading: Reading): Part => {
  const node = element("span", { className: "status", role: "status" });
  return {
    node,
    update: () => {
      const text = reading.status === "failed" ? "The article could not be read aloud. Try again." : "";
      if (node.textContent !== text) node.textContent = text;
    },
  };
};
