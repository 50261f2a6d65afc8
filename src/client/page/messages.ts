import type { Feature } from "./feature.ts";

const welcomedKey = "voxledger-welcomed";

/**
 * Speaks a text when the page is opened; with `welcomeMessageOnce` only at the visitor's first
 * page.
 */
export const welcomeMessage: Feature = ({ features, speaker }) => {
  const { welcomeMessage, welcomeMessageOnce } = features;
  if (!welcomeMessage.text || (welcomeMessageOnce && wasWelcomed())) return;
  void speaker.announce(welcomeMessage.text).then((spoken) => {
    if (spoken && welcomeMessageOnce) rememberWelcome();
  });
};

/** A browser may refuse access to its storage. */
const wasWelcomed = (): boolean => {
  try {
    return localStorage.getItem(welcomedKey) !== null;
  } catch {
    return false;
  }
};

const rememberWelcome = (): void => {
  try {
    localStorage.setItem(welcomedKey, "1");
  } catch {
    // the message is repeated on the next page
  }
};

const inactivityMs = 60_000;
const activities = ["pointermove", "pointerdown", "keydown", "wheel", "scroll", "touchstart"];

/** Speaks a text once when the visitor has done nothing for a minute, on a page that is visible. */
export const inactivityMessage: Feature = ({ features, speaker, signal }) => {
  const { text } = features.speakInactivity;
  if (!text) return;
  let lastActivity = performance.now();
  const onActivity = (): void => {
    lastActivity = performance.now();
  };
  for (const activity of activities) {
    document.addEventListener(activity, onActivity, { signal, passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", onActivity, { signal });
  const check = (): void => {
    if (document.hidden || speaker.isBusy) onActivity();
    const leftMs = lastActivity + inactivityMs - performance.now();
    if (leftMs <= 0) void speaker.announce(text);
    else wait(leftMs);
  };
  let timer: ReturnType<typeof setTimeout>;
  const wait = (milliseconds: number): void => {
    timer = setTimeout(check, milliseconds);
  };
  wait(inactivityMs);
  signal.addEventListener("abort", () => clearTimeout(timer));
};

/** Scroll positions are rounded by up to this much on screens with fractional pixels. */
const endTolerancePx = 4;

/** Speaks a text once when the visitor has scrolled to the end of the page. */
export const pageEndMessage: Feature = ({ features, speaker, signal }) => {
  const { text } = features.speakEndPage;
  if (!text) return;
  const reached = new AbortController();
  const onScroll = (): void => {
    const { scrollHeight } = document.documentElement;
    if (window.scrollY + window.innerHeight < scrollHeight - endTolerancePx) return;
    reached.abort();
    void speaker.announce(text);
  };
  const listening = AbortSignal.any([signal, reached.signal]);
  document.addEventListener("scroll", onScroll, { signal: listening, passive: true });
};

/**
 * Speaks a text once when the pointer leaves the page at its top, towards the tabs and the address.
 */
export const exitIntentMessage: Feature = ({ features, speaker, signal }) => {
  const { text } = features.exitIntent;
  if (!text) return;
  const left = new AbortController();
  const onLeave = ({ clientY }: MouseEvent): void => {
    if (clientY > 0) return;
    left.abort();
    void speaker.announce(text);
  };
  const listening = AbortSignal.any([signal, left.signal]);
  document.documentElement.addEventListener("mouseleave", onLeave, { signal: listening });
};
