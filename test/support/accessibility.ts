import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const script = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

declare const window: { readonly axe: { run(options: object): Promise<AxeResults> } };

/** What axe-core finds on a page, shadow roots included: the rules, and the elements that violate them. */
export const accessibilityViolations = async (page: Page): Promise<string[]> => {
  await page.evaluate(await readFile(script, "utf8"));
  const { violations } = await page.evaluate(() => window.axe.run({}));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
};
