import { readFile } from "node:fs/promises";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { seriousViolations } from "../../support/accessibility.ts";
import { openBrowser } from "../../support/browser.ts";
import { admin, registerWebsite, synthesize } from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { startInProcessService } from "../../support/in-process-service.ts";
import { adminToken } from "../../support/service.ts";

const auditorToken = "auditor-token-0123456789";
const markup = `<img src="x" onerror="document.title='run'">`;
const month = () => new Date().toISOString().slice(0, 7);

describe("the console's screens for auditors", () => {
  const time = {
    passed: 0,
    get now() {
      return Date.now() + this.passed;
    },
  };
  const service = duringSuite(() => startInProcessService({ AUDITOR_TOKEN: auditorToken }, undefined, time));
  const browser = duringSuite(openBrowser);
  const website = duringSuite(() => registerWebsite(service.url, { monthlyCharacters: 100_000 }));
  let page: Page;
  let hash: string;
  let complaints: string[];

  before(async () => {
    for (const text of ["Audit me.", "Audit me.", "Audit me.", "Another sentence."]) {
      const response = await synthesize(service.url, website, { text, lang: "en-GB" });
      await response.arrayBuffer();
      hash ??= (response.headers.get("etag") ?? "").replaceAll('"', "");
    }
    await admin(service.url, "POST", `/keys/${website.apiKey}/suspend`, { reason: markup });
    time.passed = 60 * 60_000; // a seal is due, which covers the servings
  });
  beforeEach(async () => {
    complaints = [];
    page = await browser.context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
  });
  afterEach(() => page.close());

  const open = async (place: string, token = auditorToken): Promise<void> => {
    await page.goto(`${service.url}/console#/${place}`);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
  };

  const expectAccessible = async (): Promise<void> => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await seriousViolations(page), colorScheme).to.deep.equal([]);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    const overflow = await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    expect(overflow, "horizontal overflow at 360 px").to.equal(0);
    expect(complaints).to.deep.equal([]);
  };

  describe("Proof", () => {
    const place = () => `proof?key=${website.apiKey}&month=${month()}`;
    type Edit = (lines: string[]) => string[];
    /** Changes the export on its way to the browser. */
    const intercept = (edit: Edit) =>
      page.route("**/proof?*", async (route) => {
        const response = await route.fetch();
        const lines = (await response.text()).split(/(?<=\n)/);
        await route.fulfill({ response, body: edit(lines).join("") });
      });
    const problem = async (edit: Edit): Promise<string> => {
      await intercept(edit);
      await open(place());
      const alert = page.getByRole("alert").filter({ hasText: "Not genuine" });
      await alert.waitFor();
      return await alert.innerText();
    };
    const indexOf = (lines: readonly string[], text: string): number =>
      lines.findIndex((line) => line.includes(text));

    it("is green for a genuine month, with the totals that the service reports", async () => {
      await open(place());
      await page.getByRole("heading", { name: "Genuine", exact: true }).waitFor();
      await page.getByText("Characters44as of position").waitFor();
      await page.locator(".verdict.good").waitFor();
      await expectAccessible();
    });

    it("is red if an event of the export was changed, and names it", async () => {
      const text = await problem((lines) => {
        const index = indexOf(lines, '"SynthesesServed"');
        return lines.with(index, (lines[index] ?? "").replace('"characters":[9', '"characters":[1'));
      });
      expect(text).to.match(
        /line \d+ was changed: journal-\S+ revision \d+ \(SynthesesServed, position \d+\)/,
      );
      await expectAccessible();
    });

    it("is red if an event of the export was dropped, and names it", async () => {
      const text = await problem((lines) => lines.toSpliced(indexOf(lines, '"KeyIssued"'), 1));
      expect(text).to.match(/line \d+ is missing .*position \d+\)/);
    });

    it("is red if events of the export were reordered, and names the first", async () => {
      const text = await problem((lines) => {
        const index = indexOf(lines, '"KeyIssued"');
        return lines.with(index, lines[index + 1] ?? "").with(index + 1, lines[index] ?? "");
      });
      expect(text).to.match(/line \d+ is missing .*position \d+\)/);
    });

    it("says that signatures were not verified in a browser without Ed25519", async () => {
      await page.addInitScript(
        "SubtleCrypto.prototype.importKey = () => Promise.reject(new DOMException('none', 'NotSupportedError'))",
      );
      await open(place());
      await page.getByRole("heading", { name: "Consistent, but not verified" }).waitFor();
    });

    it("can be cancelled", async () => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await page.route("**/proof?*", async (route) => {
        await released;
        await route.abort();
      });
      await open(place());
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByText("Cancelled.").waitFor();
      release();
    });
  });

  describe("Ledger", () => {
    it("shows events by position, and one in full, with markup as text", async () => {
      await open(`ledger?key=${website.apiKey}`);
      await page.getByRole("cell", { name: "KeySuspended" }).waitFor();
      await page.getByText("Events per minute").first().waitFor();
      await expectAccessible();
      await page
        .getByRole("row", { name: /KeySuspended/ })
        .getByRole("button")
        .click();
      await page.getByRole("dialog").getByText("onerror").waitFor();
      expect(await page.title()).to.equal("Ledger · Voxledger console");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    });

    it("filters by type, and starts after a position", async () => {
      await open("ledger");
      await page.getByLabel("Type").fill("KeyIssued");
      await page.getByRole("button", { name: "Show", exact: true }).click();
      await page.getByText(/^1 entries, as of position/).waitFor();
      const position = (await page.getByRole("button", { name: /^Show the event/ }).innerText()).trim();
      await page.getByLabel("After position").fill(position);
      await page.getByRole("button", { name: "Show", exact: true }).click();
      await page.getByText("No entries match.").waitFor();
    });

    it("follows the log live", async () => {
      await open("ledger?type=WebsiteRegistered");
      await page.getByText(/^\d+ entries, as of position/).waitFor();
      await page.getByLabel("Live tail").check();
      const rows = page.getByRole("cell", { name: "WebsiteRegistered" });
      const before = await rows.count();
      await registerWebsite(service.url);
      await rows.nth(before).waitFor();
    });

    it("does not follow the log live if the period has ended", async () => {
      const requested: string[] = [];
      page.on("request", (request) => requested.push(request.url()));
      await open(`ledger?type=WebsiteRegistered&to=2026-01-01T00:00:00.000Z`);
      await page.getByText(/^0 entries, as of position/).waitFor();
      await page.getByLabel("Live tail").check();
      await page.getByText("The period has ended: there are no new events in it.").waitFor();
      await page.getByLabel("Live tail").uncheck();
      await page.getByText(/^0 entries, as of position/).waitFor();
      expect(requested.filter((url) => url.includes("wait="))).to.deep.equal([]);
    });

    it("downloads NDJSON, CSV and CloudEvents", async () => {
      await open(`ledger?key=${website.apiKey}`);
      await page.getByText("Events per minute").first().waitFor();
      for (const [name, first] of [
        ["NDJSON", '{"position"'],
        ["CSV", "position,index"],
        ["CloudEvents", '{"specversion"'],
      ] as const) {
        const downloading = page.waitForEvent("download");
        await page.getByRole("button", { name, exact: true }).click();
        const text = await readFile(await (await downloading).path(), "utf8");
        expect(text.startsWith(first), `${name}: ${text.slice(0, 40)}`).to.equal(true);
      }
    });

    it("downloads what the filters select: key, type and time", async () => {
      await open(`ledger?key=${website.apiKey}&type=KeySuspended&from=2026-01-01T00:00:00.000Z`);
      await page.getByText(/^1 entries, as of position/).waitFor();
      const downloading = page.waitForEvent("download");
      await page.getByRole("button", { name: "NDJSON", exact: true }).click();
      const text = await readFile(await (await downloading).path(), "utf8");
      const entries = text.trim().split("\n");
      expect(entries.map((line) => JSON.parse(line).type)).to.deep.equal(["KeySuspended"]);
      await page.getByLabel("To (UTC)").fill("2026-01-02T00:00");
      await page.getByRole("button", { name: "Show", exact: true }).click();
      await page.getByText(/^0 entries, as of position/).waitFor();
      const again = page.waitForEvent("download");
      await page.getByRole("button", { name: "NDJSON", exact: true }).click();
      expect(await readFile(await (await again).path(), "utf8")).to.equal("");
    });
  });

  describe("As of", () => {
    it("shows a key at the ends of two days, their difference, and the events between", async () => {
      await open(`as-of?key=${website.apiKey}`);
      await page.getByRole("row", { name: /Characters in the month.*44 \+44/ }).waitFor();
      await page.getByRole("row", { name: /State not issued suspended changed/ }).waitFor();
      await page.getByRole("cell", { name: "SynthesisServed" }).first().waitFor();
      await page.getByText("Cumulative characters").first().waitFor();
      await expectAccessible();
    });

    it("reads on after pages without events of the key, to the end of the period", async () => {
      const emptyPage = { entries: [], next: "0", asOfPosition: 0, caughtUp: false };
      await page.route("**/admin/events?*", (route) => route.fulfill({ json: emptyPage }), { times: 1 });
      await open(`as-of?key=${website.apiKey}`);
      await page.getByText(/^All \d+ events after/).waitFor();
      await page.getByRole("cell", { name: "SynthesisServed" }).first().waitFor();
    });

    it("moves a day with the keyboard", async () => {
      await open(`as-of?key=${website.apiKey}`);
      const slider = page.getByRole("group", { name: "Earlier day (UTC)" }).getByLabel("Days");
      const before = await slider.getAttribute("aria-valuetext");
      expect(before).to.be.a("string");
      await slider.press("ArrowLeft");
      await page.waitForURL(/earlier=/);
      await slider.and(page.locator(`:not([aria-valuetext="${before}"])`)).waitFor();
    });
  });

  describe("Audio", () => {
    it("lists the most served audio, with what came from the cache", async () => {
      await open("sounds");
      await page.getByRole("row", { name: new RegExp(`^${hash.slice(0, 12)}.* 3 66\\.7%`) }).waitFor();
      await expectAccessible();
      await page.getByRole("link", { name: `${hash.slice(0, 12)}…` }).click();
      await page.getByRole("heading", { name: "Audio details", exact: true }).waitFor();
    });

    it("ends with today if the last day of its address is no date", async () => {
      await open("sounds?last=yesterday");
      await page.getByRole("row", { name: new RegExp(`^${hash.slice(0, 12)}`) }).waitFor();
    });

    it("describes audio: recipe, address, headers and marks, without actions for auditors", async () => {
      await open(`sounds/${hash}`);
      await page.getByRole("link", { name: `/audio/${hash}.mp3` }).waitFor();
      await page.getByText("public, max-age=31536000, immutable").waitFor();
      await page.getByRole("table", { name: "Marks" }).getByRole("cell", { name: "word" }).first().waitFor();
      expect(await page.getByRole("button", { name: /Delete|Purge/ }).count()).to.equal(0);
      await expectAccessible();
    });

    it("lets an operator purge and delete audio, after a confirmation", async () => {
      await open(`sounds/${hash}`, adminToken);
      await page.getByRole("button", { name: "Purge the CDN" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Purge" }).click();
      await page.getByText("No CDN is configured.").waitFor();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("The audio was deleted.").waitFor();
      await page.getByText("Not stored: it was deleted, or never written.").waitFor();
    });
  });
});
