import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults, Result } from "axe-core";
import type { Page } from "playwright-core";
import { lazy } from "../../src/async/lazy.ts";

const axe = lazy(() => readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));

/**
 * The rules of axe-core that a page violates, shadow roots included, and the elements that violate
 * them.
 */
export const accessibilityViolations = async (page: Page): Promise<string[]> =>
  (await violationsOf(page)).map(description);

/** Leaves out violations whose impact is minor or moderate. */
export const seriousViolations = async (page: Page): Promise<string[]> =>
  (await violationsOf(page))
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(description);

const violationsOf = async (page: Page): Promise<Result[]> => {
  // The debugger evaluates it, because a page's policy allows no other script.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(await axe());
  // Otherwise axe-core also describes every element that violates nothing.
  const results = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as AxeResults;
  return results.violations;
};

const description = ({ id, nodes }: Result): string => `${id}: ${nodes.map(({ html }) => html).join(" ")}`;
