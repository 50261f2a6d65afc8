import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium } from "playwright-core";

/** Debian's, which scripts/test installs. */
const executablePath = "/usr/bin/chromium";

/** No sandbox: tests run as root in containers. Nothing of the browser's own asks the network for anything. */
const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--autoplay-policy=document-user-activation-required",
];

export interface Browser {
  readonly context: BrowserContext;
  /** Ends it and removes what it kept. */
  close(): Promise<void>;
}

/** A real Chromium without a window, with nothing remembered, and with what switches are given beside its own. */
export const launchBrowser = async (switches: readonly string[] = []): Promise<Browser> => {
  const profile = await mkdtemp(join(tmpdir(), "voxledger-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: [...args, ...switches],
  });
  return {
    context,
    close: async () => {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
};
