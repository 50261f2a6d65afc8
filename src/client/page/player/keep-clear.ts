import { type Box, freePlace } from "./free-place.ts";
import { obstaclesIn } from "./obstacles.ts";

/**
 * Changes of the page may come with each frame, and a check makes the browser lay it out. Changes
 * in a shadow root are not observed: the clock of the reading calls `update` too.
 */
const minIntervalMs = 500;

/** Set while no place in the window is free of other buttons. */
const hasNoPlace = "data-no-place";

const none = { x: 0, y: 0 };

/**
 * Keeps the mini player off the buttons of the page's other fixed elements, such as a consent
 * banner that appears later, or a bar of tabs. `update` starts it, and checks the place once;
 * further checks follow changes of the page until `stop` is called.
 */
export const keepClear = (host: HTMLElement, player: Element) => {
  let offset = none;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let stopped: AbortController | undefined;

  const check = (): void => {
    timer = undefined;
    checkedAt = performance.now();
    const box = host.getBoundingClientRect();
    if (box.width === 0) return; // not rendered, as in print
    const home: Box = {
      left: box.left - offset.x,
      top: box.top - offset.y,
      right: box.right - offset.x,
      bottom: box.bottom - offset.y,
    };
    const { clientWidth, clientHeight } = document.documentElement;
    const view: Box = { left: 0, top: 0, right: clientWidth, bottom: clientHeight };
    const place = freePlace(home, view, (one) => obstaclesIn(one, player));
    host.toggleAttribute(hasNoPlace, place === undefined);
    const { x, y } = place ?? none;
    // A style that is set again would be a change that is checked again.
    if (x !== offset.x || y !== offset.y) host.style.translate = `${x}px ${y}px`;
    offset = { x, y };
  };
  const update = (): void => {
    const waitMs = checkedAt + minIntervalMs - performance.now();
    if (waitMs <= 0) check();
    else timer ??= setTimeout(check, waitMs);
  };
  const start = (): void => {
    stopped = new AbortController();
    const { signal } = stopped;
    const observer = new MutationObserver(update);
    observer.observe(document.documentElement, {
      childList: true,
      subtree: true,
      attributeFilter: ["class", "style", "hidden", "open"],
    });
    const options = { capture: true, passive: true, signal };
    for (const kind of ["resize", "scroll", "animationend", "transitionend"])
      addEventListener(kind, update, options);
    signal.addEventListener("abort", () => {
      observer.disconnect();
      clearTimeout(timer);
      timer = undefined;
    });
  };

  return {
    update: (): void => {
      if (!stopped) start();
      update();
    },
    stop: (): void => {
      stopped?.abort();
      stopped = undefined;
    },
  };
};
