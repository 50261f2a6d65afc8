import { expect } from "chai";
import type { UsageOverview } from "../../../src/ledger/reports/usage-overview.ts";
import { type Browser, openBrowser } from "../../support/browser.ts";
import { type ConsolePage, openConsole } from "../../support/console-page.ts";
import { duringSuite } from "../../support/during.ts";
import { type InProcessService, startServiceForBrowser } from "../../support/in-process-service.ts";
import { overflowing, pageWidths } from "../../support/page-widths.ts";
import { markupName, type SeededLog, writeSeededLog } from "../../support/seeded-log.ts";
import { adminToken, temporaryFolder } from "../../support/service.ts";

interface Box {
  getBoundingClientRect(): { readonly top: number };
}

const auditorToken = "auditor-token-0123456789";
/** Observers of sizes run in a frame, and change the page before the next. */
const untilPlotsHaveResized =
  "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))";

describe("the console over a log with 200 keys and 25,000 servings", () => {
  const folder = duringSuite(temporaryFolder);
  let service: InProcessService;
  let browser: Browser;
  let seeded: SeededLog;
  let opened: ConsolePage;

  before(async () => {
    seeded = await writeSeededLog(folder.path, { keys: 200, servings: 25_000 });
    [service, browser] = await Promise.all([
      startServiceForBrowser({ DATA_DIR: folder.path, AUDITOR_TOKEN: `carol=${auditorToken}` }),
      openBrowser(),
    ]);
  });
  afterEach(() => opened.page.close());
  after(async () => {
    await browser.close();
    await service.close();
  });

  const open = async (token: string, place: string) => {
    opened = await openConsole(browser, service.url, token, place);
    return opened.page;
  };
  const key = (number: number) => seeded.keys[number]?.apiKey ?? "";
  const website = (number: number) => seeded.keys[number]?.websiteId ?? "";

  const places = () => [
    "#/",
    "#/keys",
    `#/keys/${key(1)}`,
    "#/websites",
    `#/websites/${website(0)}`,
    "#/voices",
    "#/providers",
  ];

  for (const [role, token] of [
    ["an operator", adminToken],
    ["an auditor", auditorToken],
  ] as const) {
    it(`has no serious violation of accessibility rules, and none of its policy, for ${role}, light and dark`, async () => {
      const page = await open(token, "#/");
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        for (const place of places()) {
          await opened.goTo(place);
          expect(await opened.violations(), `${place} ${colorScheme}`).to.deep.equal([]);
        }
      }
      expect(opened.complaints).to.deep.equal([]);
    });
  }

  it("fits screens from 360 to 1,600 pixels: in no screen is anything outside of it that cannot be scrolled to", async () => {
    const page = await open(adminToken, "#/");
    const all = ["#/webhooks", "#/ledger", "#/as-of", "#/proof", "#/sounds"];
    for (const place of [...places(), ...all]) {
      await opened.goTo(place);
      for (const width of pageWidths) {
        await page.setViewportSize({ width, height: 800 });
        await page.evaluate(untilPlotsHaveResized);
        expect(await overflowing(page), `${place} ${width}`).to.deep.equal([]);
        const scrolled = await page.evaluate("document.documentElement.scrollWidth");
        expect(scrolled, `${place} ${width}`).to.be.at.most(width);
      }
    }
  });

  for (const width of pageWidths) {
    it(`shows its screens on one line, and the actions of each key, at ${width} pixels`, async () => {
      const page = await open(adminToken, "#/keys");
      await page.setViewportSize({ width, height: 800 });
      const links = page.getByRole("navigation", { name: "Screens" }).getByRole("link");
      const tops = await links.evaluateAll((all) =>
        all.map((link) => (link as unknown as Box).getBoundingClientRect().top),
      );
      expect(new Set(tops).size).to.equal(1);
      const suspend = await page.getByRole("button", { name: "Suspend" }).first().boundingBox();
      expect((suspend?.x ?? width) + (suspend?.width ?? 0)).to.be.at.most(width);
      await opened.goTo("#/providers");
      const current = await page.locator(".screens [aria-current]").boundingBox();
      expect((current?.x ?? width) + (current?.width ?? 0)).to.be.at.most(width);
    });
  }

  it("offers auditors no action", async () => {
    const page = await open(auditorToken, "#/keys");
    for (const place of places()) {
      await opened.goTo(place);
      const actions = page.getByRole("button", { name: /…/ });
      expect(await actions.allTextContents(), place).to.deep.equal([]);
    }
  });

  it("shows a website's name with markup as text", async () => {
    const page = await open(adminToken, `#/websites/${website(0)}`);
    expect(await page.locator("h1").textContent()).to.equal(markupName);
    expect(await page.locator("main img").count()).to.equal(0);
    expect(await page.title()).to.equal("Website · Voxledger console");
  });

  it("shows what all instances served today and this month, with where audio came from", async () => {
    const page = await open(auditorToken, "#/");
    const response = await fetch(`${service.url}/admin/usage`, {
      headers: { Authorization: `Bearer ${auditorToken}` },
    });
    const usage = (await response.json()) as UsageOverview;
    const counted = (value: number) => value.toLocaleString("en-GB");
    for (const [name, value] of [
      ["Requests today", usage.today.requests],
      ["Characters today", usage.today.characters],
      ["Requests this month", usage.month.requests],
      ["Characters this month", usage.month.characters],
    ] as const) {
      const figure = page.locator(".figure", { has: page.getByText(name, { exact: true }) });
      expect(await figure.locator("dd").textContent(), name).to.include(counted(value));
    }
    const sources = page.getByRole("table", { name: "Requests by where their audio came from" });
    expect(await sources.getByRole("row", { name: /^Memory/ }).textContent()).to.include(
      counted(usage.month.served.memory.requests),
    );
    await page
      .getByText(`as of position ${counted(usage.asOfPosition)}`)
      .first()
      .waitFor();
    await page.getByRole("heading", { name: "Refusals by code, this instance alone" }).waitFor();
  });

  it("reads the usage again until the instance has read the whole log", async () => {
    const page = await open(auditorToken, "#/providers");
    let responses = 0;
    const failureSeen = Promise.withResolvers<void>();
    await page.route("**/admin/usage", async (route) => {
      responses += 1;
      if (responses === 2) return await route.fulfill({ status: 503, json: {} });
      if (responses === 3) await failureSeen.promise;
      const response = await route.fetch();
      const usage = (await response.json()) as UsageOverview;
      await route.fulfill({ response, json: { ...usage, isComplete: usage.isComplete && responses > 2 } });
    });
    const failure = page.getByRole("alert");
    const seeFailure = async (): Promise<void> => {
      await failure.waitFor();
      await page.getByText("Characters this month").waitFor();
      failureSeen.resolve();
    };
    await Promise.all([opened.goTo("#/"), seeFailure()]);
    expect(await page.getByText("still reading the log").count()).to.equal(0);
    expect(await failure.count()).to.equal(0);
  });

  it("shows the usage of all keys as a plot, and the same as a table", async () => {
    const page = await open(auditorToken, "#/");
    await page.locator(".u-wrap canvas").first().waitFor();
    await page.getByText("Show “Daily characters by engine” as a table").click();
    const table = page.getByRole("table", { name: "Daily characters by engine" });
    expect(await table.locator("tbody tr").count()).to.equal(31);
    expect(await table.locator("thead").textContent()).to.include("g1");
  });

  it("finds keys, and pages through them without all of them in the page", async () => {
    const page = await open(auditorToken, "#/keys");
    const rows = page.getByRole("table", { name: "Keys" }).locator("tbody tr");
    expect(await rows.count()).to.equal(25);
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("Page 2: 25 of 200").waitFor();
    await page.getByLabel("Search").fill("shop-77.example");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("Page 1: 1 of 1").waitFor();
    expect(await rows.first().textContent()).to.include(key(77));
  });

  it("sorts keys by their usage, the greatest first, over all pages", async () => {
    const page = await open(auditorToken, "#/keys");
    const rows = page.getByRole("table", { name: "Keys" }).locator("tbody tr");
    const usages: number[] = [];
    for (let number = 1; number <= 8; number++) {
      const listed = page.waitForResponse(/\/admin\/keys\?/);
      await page.getByRole("button", { name: number === 1 ? "Characters of quota" : "Next" }).click();
      await listed;
      await page.locator(".loading, [aria-busy=true]").first().waitFor({ state: "detached" });
      await page.getByText(`Page ${number}: 25 of 200`).waitFor();
      const cells = await rows.locator("td:nth-child(4)").allTextContents();
      usages.push(...cells.map((text) => Number(text.split(" of ")[0]?.replaceAll(",", ""))));
    }
    expect(usages).to.deep.equal(usages.toSorted((a, b) => b - a));
    expect(usages[0]).to.be.above(0);
  });

  it("suspends a key after a confirmation with a reason, and undoes it", async () => {
    const page = await open(adminToken, `#/keys/${key(3)}`);
    await page.getByRole("button", { name: "Suspend…" }).click();
    const dialog = page.getByRole("dialog", { name: "Suspend this key?" });
    await dialog.getByLabel("Reason").fill("invoice overdue");
    await dialog.getByRole("button", { name: "Suspend" }).click();
    await page.getByText("operator: invoice overdue, since").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Suspend…" }).waitFor();
    await page.getByText("Undone.").waitFor();
    const history = page.getByRole("table", { name: "Plans, suspensions and secrets of the key" });
    await history.getByText("KeyReinstated").waitFor();
  });

  it("changes a plan, and shows the quota as it was in the history", async () => {
    const page = await open(adminToken, `#/keys/${key(4)}`);
    await page.getByRole("button", { name: "Plan…" }).click();
    const dialog = page.getByRole("dialog", { name: "Change the plan?" });
    await dialog.getByLabel("Characters per month").fill("5000000");
    await dialog.getByRole("button", { name: "Change plan" }).click();
    await page.getByText("enterprise: 5,000,000 characters a month").waitFor();
    await page.getByRole("cell", { name: "PlanChanged" }).waitFor();
  });

  it("shows a new secret once, and revokes it", async () => {
    const page = await open(adminToken, `#/keys/${key(5)}`);
    await page.getByRole("button", { name: "New secret…" }).click();
    await page.getByRole("button", { name: "Create secret" }).click();
    const secret = (await page.locator(".secret").textContent()) ?? "";
    expect(secret).to.match(/^\S{20,}$/);
    await page.getByRole("button", { name: "Copy secret" }).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    expect(await page.content()).to.not.include(secret);
    const secrets = page.getByRole("table", { name: "Valid secrets; their values are not stored" });
    await secrets.locator("tbody tr").nth(1).waitFor();
    await secrets.getByRole("button", { name: "Revoke…" }).nth(1).click();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("Revoked the secret").waitFor();
    await secrets.locator("tbody tr").nth(1).waitFor({ state: "detached" });
  });

  it("shows a refused configuration at the field, and saves a valid one", async () => {
    const page = await open(adminToken, `#/websites/${website(6)}`);
    const voice = page.getByRole("group", { name: "voice", exact: true });
    const save = async () => {
      await page.getByRole("button", { name: "Save configuration…" }).click();
      await page.getByRole("button", { name: "Save", exact: true }).click();
    };
    await voice.getByLabel("rate").fill("7");
    await save();
    await voice.locator(".error").waitFor();
    expect(await voice.getByLabel("rate").getAttribute("aria-invalid")).to.equal("true");
    await voice.getByLabel("rate").fill("1.5");
    await save();
    await page.getByText("Changed the configuration of").waitFor();
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    expect(await page.getByLabel("Stored configuration").inputValue()).to.include('"rate": 1.5');
  });

  it("sets switches of the configuration, and removes them for their defaults", async () => {
    const page = await open(adminToken, `#/websites/${website(6)}`);
    const member = page.getByRole("group", { name: "speakLinks", exact: true }).getByLabel("enabled");
    const stored = async () => {
      await page.getByRole("button", { name: "JSON", exact: true }).click();
      const text = await page.getByLabel("Stored configuration").inputValue();
      await page.getByRole("button", { name: "Form", exact: true }).click();
      return JSON.parse(text).features?.speakLinks?.enabled;
    };
    for (const [option, value] of [
      ["no", false],
      ["yes", true],
      ["default", undefined],
    ] as const) {
      await member.selectOption(option);
      expect(await stored()).to.equal(value);
      expect(await member.locator("option:checked").textContent()).to.equal(option);
    }
  });

  it("registers a website, and shows its secret once", async () => {
    const page = await open(adminToken, "#/websites");
    await page.getByRole("button", { name: "Register a website…" }).click();
    await page.getByLabel("Name").fill("A new shop");
    await page.getByRole("button", { name: "Register", exact: true }).click();
    expect(await page.locator(".secret").textContent()).to.match(/^\S{20,}$/);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByLabel("Search").fill("a new shop");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("link", { name: "A new shop" }).waitFor();
  });

  it("sets a lexicon and changes the origins of a website", async () => {
    const page = await open(adminToken, `#/websites/${website(9)}`);
    await page.getByRole("button", { name: "Set a lexicon…" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("abbreviations");
    await page.getByRole("textbox", { name: "Language", exact: true }).fill("en");
    await page.getByLabel("Rules, one a line").fill("W3C = World Wide Web Consortium");
    await page.getByRole("button", { name: "Set lexicon" }).click();
    await page.getByRole("button", { name: "abbreviations" }).click();
    await page.getByText("World Wide Web Consortium").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Change origins…" }).click();
    await page.getByLabel("Origins, one a line").fill("https://a.example\nhttps://b.example");
    await page.getByRole("button", { name: "Change origins", exact: true }).click();
    await page.getByText("https://b.example").waitFor();
  });

  it("speaks a text with two voices, and draws the words over their waveforms", async () => {
    const page = await open(adminToken, "#/voices");
    await page.getByLabel("Key that is charged").fill(key(2));
    await page.getByRole("button", { name: "Listen to UK English Female" }).click();
    await page.getByRole("button", { name: "Listen to UK English Male" }).click();
    await page.getByRole("button", { name: "Compare the two voices" }).click();
    for (const voice of ["UK English Female", "UK English Male"]) {
      const sound = page.locator("audio").and(page.getByLabel(`The text, spoken by ${voice}`));
      await sound.waitFor();
      expect(await sound.getAttribute("src")).to.match(/^blob:/);
      const plot = page.getByRole("figure", { name: `Waveform of ${voice}` });
      await plot.locator("canvas").waitFor();
      const words = page.getByRole("table", { name: `Words of ${voice}` }).locator("tbody tr");
      await page.getByText(`Show the words of ${voice}`).click();
      expect(await words.locator("td:last-child").allTextContents()).to.deep.equal([
        "The",
        "train",
        "to",
        "Oxford",
        "leaves",
        "at",
        "nine",
      ]);
    }
    expect(opened.complaints).to.deep.equal([]);
  });

  it("deprecates a voice, and undoes it", async () => {
    const page = await open(adminToken, "#/voices");
    await page.getByLabel("Name").fill("Scottish English Male");
    const row = page.getByRole("row", { name: /Scottish English Male/ });
    await row.getByRole("button", { name: "Deprecate…" }).click();
    await page.getByRole("button", { name: "Deprecate", exact: true }).click();
    await row.getByText("deprecated").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await row.getByText("current").waitFor();
  });

  it("is reached by keyboard: a skip link first, then the navigation", async () => {
    const page = await open(adminToken, "#/");
    await page.keyboard.press("Tab");
    const focused = () => page.evaluate("document.activeElement.textContent");
    expect(await focused()).to.equal("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).to.equal("main");
  });
});
