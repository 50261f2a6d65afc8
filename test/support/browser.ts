import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium } from "playwright-core";

/** Debian's Chromium without a user interface, which takes a third of the CPU time. scripts/test installs it. */
const executablePath = "/usr/bin/chromium-headless-shell";

/** Without a sandbox, because tests run as root in containers, and without the browser's own network requests. */
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--autoplay-policy=document-user-activation-required",
];

/** A page of a large document takes 40 s when other processes use the processors. Below the timeout of a test. */
const longestMs = 240_000;

export interface Browser {
  readonly context: BrowserContext;
  /** Closes the browser and removes its profile. */
  close(): Promise<void>;
}

/** Launches a headless Chromium with an empty profile and these additional switches. */
export const launchBrowser = async (switches: readonly string[] = []): Promise<Browser> => {
  const profile = await mkdtemp(join(tmpdir(), "voxledger-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: [...args, ...switches],
    timeout: longestMs,
  });
  context.setDefaultTimeout(longestMs);
  return {
    context,
    close: async () => {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
};
