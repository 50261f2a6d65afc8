// Measures the time until the console shows its overview, over a log with 10,000 keys and 100,000
// servings. Takes about a minute and needs Chromium: scripts/node scripts/bench/console-overview.ts
// [keys] [servings]
import { launchBrowser } from "../../test/support/browser.ts";
import { adminToken, startInstance } from "../../test/support/instance.ts";
import { writeSeededLog } from "../../test/support/seeded-log.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const [keys = 10_000, servings = 100_000] = process.argv.slice(2).map(Number);
const runs = 5;

await inTemporaryFolder(async (folder) => {
  const startedAt = performance.now();
  await writeSeededLog(folder, { keys, servings });
  console.log(`${keys} keys and ${servings} servings written in ${seconds(startedAt)}`);
  const service = await startInstance(folder);
  const browser = await launchBrowser();
  for (let run = 0; run < runs; run++) {
    const page = await browser.context.newPage();
    await page.goto(`${service.url}/console`);
    await page.getByLabel("Token").fill(adminToken);
    const before = performance.now();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const heading = seconds(before);
    await page.getByText("Projections", { exact: true }).waitFor();
    const status = seconds(before);
    await page.getByText("Daily characters by engine", { exact: true }).first().waitFor();
    const plot = seconds(before);
    const paint = await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime");
    console.log(
      `first paint ${Math.round(Number(paint))} ms; from sign-in: heading ${heading}, state ${status}, usage of all keys ${plot}`,
    );
    await page.close();
  }
  await browser.close();
  await service.stop();
});

function seconds(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(2)} s`;
}
