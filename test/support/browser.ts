import { type BrowserContext, type Browser as Chromium, chromium } from "playwright-core";

/**
 * Debian's Chromium without a user interface, which takes a third of the CPU time. scripts/test
 * installs it.
 */
const executablePath = "/usr/bin/chromium-headless-shell";

/**
 * The browser has no sandbox, because tests run as root in containers, and makes no network
 * requests of its own.
 */
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--autoplay-policy=document-user-activation-required",
  "--renderer-process-limit=1",
];

/**
 * A page of a large document takes 40 s when other processes use the processors. This is below the
 * timeout of a test.
 */
const longestMs = 240_000;

/**
 * For `waitForFunction`, which by default evaluates at each animation frame, and so makes the page
 * draw.
 */
export const tenTimesASecond = { polling: 100 };

export interface Browser {
  /** Its profile is empty. */
  readonly context: BrowserContext;
  closePages(): Promise<void>;
  close(): Promise<void>;
}

const launch = (switches: readonly string[] = []): Promise<Chromium> =>
  chromium.launch({ executablePath, args: [...args, ...switches], timeout: longestMs });

/** Playwright ends it when the process exits. */
let shared: Promise<Chromium> | undefined;

/** Opens a profile of its own in a headless Chromium that the test files of a process share. */
export const openBrowser = async (): Promise<Browser> => {
  if (!(await shared)?.isConnected()) shared = launch(); // the first, or the last one has crashed
  const profile = await openProfile(await (shared as Promise<Chromium>));
  return { ...profile, close: () => profile.context.close() };
};

/** Launches a headless Chromium with these additional switches. */
export const launchBrowser = async (switches: readonly string[] = []): Promise<Browser> => {
  const launched = await launch(switches);
  return { ...(await openProfile(launched)), close: () => launched.close() };
};

const openProfile = async (browser: Chromium): Promise<Omit<Browser, "close">> => {
  const context = await browser.newContext();
  context.setDefaultTimeout(longestMs);
  // Keeps the renderer process, which otherwise ends with each page.
  const blank = await context.newPage();
  const closePages = async () => {
    const opened = context.pages().filter((page) => page !== blank);
    await Promise.all(opened.map((page) => page.close()));
  };
  return { context, closePages };
};
