import { readFile } from "node:fs/promises";
import { expect } from "chai";
import type { UsageReport } from "../../../src/ledger/reports/usage-report.ts";
import { type Browser, openBrowser } from "../../support/browser.ts";
import { type ConsolePage, openConsole } from "../../support/console-page.ts";
import { duringSuite } from "../../support/during.ts";
import { type InProcessService, startServiceForBrowser } from "../../support/in-process-service.ts";
import { isSample } from "../../support/sample.ts";
import { type SeededLog, writeSeededLog } from "../../support/seeded-log.ts";
import { temporaryFolder } from "../../support/service.ts";

const auditorToken = "auditor-token-0123456789";

const servings = isSample ? 10_000 : 50_000;

describe(`the console's screens for auditors over 200 keys and ${servings} events`, () => {
  const folder = duringSuite(temporaryFolder);
  let service: InProcessService;
  let browser: Browser;
  let seeded: SeededLog;
  let opened: ConsolePage;

  before(async () => {
    seeded = await writeSeededLog(folder.path, { keys: 200, servings, eachInOwnEvent: true });
    [service, browser] = await Promise.all([
      startServiceForBrowser({ DATA_DIR: folder.path, AUDITOR_TOKEN: auditorToken }),
      openBrowser(),
    ]);
  });
  afterEach(() => opened.page.close());
  after(async () => {
    await browser.close();
    await service.close();
  });

  const open = async (place: string) => {
    opened = await openConsole(browser, service.url, auditorToken, place);
    return opened.page;
  };
  const busy = () => seeded.keys[0]?.apiKey ?? "";
  const quiet = () => seeded.keys[150]?.apiKey ?? "";
  const get = async <T>(path: string): Promise<T> => {
    const headers = { Authorization: `Bearer ${auditorToken}` };
    return (await (await fetch(`${service.url}/admin/${path}`, { headers })).json()) as T;
  };
  const counted = (value: number) => value.toLocaleString("en-GB");
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

  it("Ledger: shows a busy key page by page, with 50 rows in the document", async () => {
    const page = await open(`#/ledger?key=${busy()}&from=${day(30)}T00:00:00.000Z`);
    await page.getByText(/^200 entries, as of position/).waitFor();
    await page.getByRole("button", { name: "Read on" }).click();
    await page.getByText(/^400 entries, as of position/).waitFor();
    expect(await page.getByRole("table", { name: "Events" }).locator("tbody tr").count()).to.equal(50);
    expect(opened.complaints).to.deep.equal([]);
  });

  it("Ledger: finds all entries of a quiet key, and downloads the same", async () => {
    const page = await open(`#/ledger?key=${quiet()}&type=SynthesisServed&from=${day(3)}T00:00:00.000Z`);
    const shown = page.getByText(/^\d+ entries, as of position/);
    await shown.waitFor();
    const entries = Number((await shown.innerText()).split(" ")[0]);
    expect(entries).to.be.within(1, 199);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "NDJSON", exact: true }).click();
    const lines = (await readFile(await (await downloading).path(), "utf8")).trim().split("\n");
    expect(lines.length).to.equal(entries);
    expect(new Set(lines.map((line) => JSON.parse(line).type))).to.deep.equal(new Set(["SynthesisServed"]));
  });

  it("As of: compares a busy key at two days, and shows a bounded part of the events between", async () => {
    const [earlier, later] = [day(8), day(1)];
    const page = await open(`#/as-of?key=${busy()}&earlier=${earlier}&later=${later}`);
    const report = await get<UsageReport>(`keys/${busy()}/usage?asOf=${later}T23:59:59.999Z`);
    const row = page.getByRole("row", { name: /^Characters in the month/ });
    await row.waitFor();
    expect(await row.textContent()).to.include(counted(report.characters));
    // A tenth of the servings are fewer than the screen shows.
    await page.getByText(isSample ? /^All \d+ events after/ : /^The first 500 events after/).waitFor();
    expect(
      await page.getByRole("table", { name: "Events between the days" }).locator("tbody tr").count(),
    ).to.equal(50);
  });

  it("Key: shows the month exactly as of the position that it names", async () => {
    const page = await open(`#/keys/${busy()}`);
    const figure = page.locator(".figure", { has: page.getByText("Characters", { exact: true }) });
    const text = (await figure.locator("dd").textContent()) ?? "";
    const position = /as of position ([\d,]+)/.exec(text)?.[1]?.replaceAll(",", "");
    const report = await get<UsageReport>(`keys/${busy()}/usage?asOfPosition=${position}`);
    expect(text.startsWith(counted(report.characters)), text).to.equal(true);
    await page.getByRole("table", { name: "Plans, suspensions and secrets of the key" }).waitFor();
    expect(opened.complaints).to.deep.equal([]);
  });

  it("Proof: verifies the month of a key in the browser, with the totals that the service reports", async () => {
    const month = day(0).slice(0, 7);
    const page = await open(`#/proof?key=${quiet()}&month=${month}`);
    // This log was written at once, with times of the last days.
    await page.getByRole("heading", { name: "Genuine, with remarks", exact: true }).waitFor();
    await page
      .getByText(/^Remark: \d+ events were stored more than 130 s before or after their own time/)
      .waitFor();
    expect(await page.locator(".verdict.warn").textContent()).not.to.include("The service reports");
    expect(opened.complaints).to.deep.equal([]);
  });
});
