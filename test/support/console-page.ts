import type { Page } from "playwright-core";
import { seriousViolations } from "./accessibility.ts";
import type { Browser } from "./browser.ts";

/** A page of the console, and what the browser complained about in it. */
export interface ConsolePage {
  readonly page: Page;
  readonly complaints: string[];
  /** Goes to a place of the console and waits until nothing is being read. */
  goTo(place: string): Promise<void>;
  /** The serious and critical violations of accessibility rules. */
  violations(): Promise<string[]>;
}

/** Opens a place of the console in a new page, signs in, and waits until nothing is being read. */
export const openConsole = async (
  { context }: Browser,
  url: string,
  token: string,
  place = "#/",
): Promise<ConsolePage> => {
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(`${url}/console${place}`);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  const settled = async () => {
    await page.locator("main h1").first().waitFor();
    await page.locator(".loading, [aria-busy=true]").first().waitFor({ state: "detached" });
  };
  await settled();
  return {
    page,
    complaints,
    goTo: async (place) => {
      await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
      await settled();
    },
    violations: () => seriousViolations(page),
  };
};
