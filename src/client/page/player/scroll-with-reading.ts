import type { Reading } from "./reading.ts";

const scrollKeys = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "]);

/**
 * Scrolls to the spoken word when it is out of view, until the reader scrolls. The next start, or a
 * seek, scrolls again.
 */
export const scrollWithReading = (reading: Reading, signal: AbortSignal): (() => void) => {
  let isFollowing = false;
  let wasLoading = false;
  let last = "";
  const release = (): void => {
    isFollowing = false;
  };
  const options = { signal, passive: true, capture: true };
  document.addEventListener("wheel", release, options);
  document.addEventListener("touchmove", release, options);
  document.addEventListener(
    "keydown",
    (event) => scrollKeys.has(event.key) && isOfPage(event) && release(),
    options,
  );
  document.addEventListener(
    "mousedown",
    ({ target }) => target === document.documentElement && release(),
    options,
  );
  return () => {
    const isLoading = reading.status === "loading";
    if (isLoading && !wasLoading) isFollowing = true;
    wasLoading = isLoading;
    if (reading.status !== "playing" || !isFollowing || isReducedMotion()) return;
    const { place } = reading;
    if (String(place.charIndex) === last) return;
    last = String(place.charIndex);
    const range = reading.spokenRange;
    if (range) scrollIntoView(range);
  };
};

/** The keys also belong to fields and to the player's slider. */
const isOfPage = (event: Event): boolean => {
  const [target] = event.composedPath();
  return !(target instanceof Element && target.matches("input, select, textarea, button, [contenteditable]"));
};

const isReducedMotion = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

const scrollIntoView = (range: Range): void => {
  const word = range.getBoundingClientRect();
  const node = range.startContainer;
  const container = scrollContainerOf(node instanceof Element ? node : node.parentElement);
  const isWindow = container === document.scrollingElement;
  const box = isWindow ? new DOMRect(0, 0, innerWidth, innerHeight) : container?.getBoundingClientRect();
  if (!container || !box || word.height === 0) return;
  const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
  if (word.top >= top && word.bottom <= bottom) return;
  container.scrollBy({ top: word.top - (top + bottom) / 2, behavior: "smooth" });
};

const scrollContainerOf = (element: Element | null): Element | null => {
  for (let one = element; one && one !== document.body; one = one.parentElement) {
    if (one.scrollHeight > one.clientHeight && /auto|scroll/.test(getComputedStyle(one).overflowY))
      return one;
  }
  return document.scrollingElement;
};
