import type { Page } from "playwright-core";

/** Widths from that of a telephone to that of a large screen, in pixels. */
export const pageWidths = [360, 768, 1000, 1280, 1600] as const;

/**
 * Lists the elements that reach beyond the right edge. Leaves out those in an element that scrolls
 * sideways, if that element or a link in it can be focused.
 */
export const overflowing = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .filter((one) => {
      const scroller = one.closest(".scroll, .screens, pre, .hidden");
      return !scroller || scroller.getBoundingClientRect().right > innerWidth + 1;
    })
    .map((one) => one.outerHTML.slice(0, 100))`);
