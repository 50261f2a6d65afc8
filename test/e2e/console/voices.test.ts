import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import { openBrowser } from "../../support/browser.ts";
import { admin } from "../../support/client.ts";
import { type ConsolePage, openConsole } from "../../support/console-page.ts";
import { duringSuite } from "../../support/during.ts";
import { startServiceForBrowser } from "../../support/in-process-service.ts";
import { adminToken } from "../../support/service.ts";

describe("the console's screen of voices", () => {
  const service = duringSuite(startServiceForBrowser);
  const browser = duringSuite(openBrowser);
  let opened: ConsolePage;
  let page: Page;
  /** System voices of the catalog. */
  let first: number;
  let second: number;

  before(async () => {
    [first = 0, second = 0] = (await voice("UK English Female")).voiceIDs as number[];
  });
  beforeEach(async () => {
    opened = await openConsole(browser, service.url, adminToken, "#/voices");
    page = opened.page;
  });
  afterEach(() => page.close());

  /** Nothing can be entered behind an open dialog. */
  const find = async (name: string): Promise<void> => {
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("searchbox", { name: "Name" }).fill(name);
  };
  const rowOf = (name: string): Locator =>
    page.getByRole("row").filter({ has: page.getByRole("cell", { name, exact: true }) });
  const dialogOf = async (name: string, action: string): Promise<Locator> => {
    await find(name);
    await rowOf(name).getByRole("button", { name: action }).click();
    return page.getByRole("dialog");
  };
  const voice = async (name: string) =>
    (await admin(service.url, "GET", `/voices/${encodeURIComponent(name)}`)).body;
  const ids = (dialog: Locator) => dialog.getByLabel("Ids of system voices, the preferred one first");
  const addNarrator = async (name: string): Promise<void> => {
    const members = { name, flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [first, second] };
    const { status, body } = await admin(service.url, "POST", "/voices", members);
    expect(status, JSON.stringify(body)).to.equal(201);
    await opened.goTo("#/keys");
    await opened.goTo("#/voices");
  };

  it("adds a voice, and undoes it by deprecating it", async () => {
    await page.getByRole("button", { name: "Add a voice…" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a voice" });
    await dialog.getByLabel("Name").fill("Newsreader");
    await dialog.getByLabel("Language").fill("de-AT");
    await dialog.getByLabel("Country of the flag").fill("at");
    await dialog.getByLabel("Gender").selectOption("m");
    await ids(dialog).fill(`${second}, ${first}`);
    await dialog.getByRole("button", { name: "Add voice" }).click();
    await find("Newsreader");
    await rowOf("Newsreader").getByText("de-AT").waitFor();
    const members = { name: "Newsreader", flag: "at", gender: "m", lang: "de-AT", voiceIDs: [second, first] };
    expect(await voice("Newsreader")).to.deep.equal(members);
    await page.getByRole("button", { name: "Undo" }).click();
    await rowOf("Newsreader").getByText("deprecated").waitFor();
  });

  it("adds an alias, which begins with the members of its voice and has another name", async () => {
    const original = await voice("UK English Female");
    const dialog = await dialogOf("UK English Female", "Alias…");
    expect(await dialog.getByRole("heading").textContent()).to.equal("Add an alias of UK English Female");
    expect(await ids(dialog).inputValue()).to.equal((original.voiceIDs as number[]).join(", "));
    await dialog.getByLabel("Name").fill("UK English Female");
    await dialog.getByRole("button", { name: "Add voice" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/UK English Female/)
      .waitFor();
    await dialog.getByLabel("Name").fill("Alice of the shop");
    await dialog.getByRole("button", { name: "Add voice" }).click();
    await page.getByText("Added the voice Alice of the shop.").waitFor();
    await find("Alice of the shop");
    await rowOf("Alice of the shop").getByText("current").waitFor();
    expect(await voice("Alice of the shop")).to.deep.equal({ ...original, name: "Alice of the shop" });
  });

  it("changes a voice, and undoes it", async () => {
    await addNarrator("Narrator");
    const before = await voice("Narrator");
    const dialog = await dialogOf("Narrator", "Change…");
    expect(await dialog.getByLabel("Language").inputValue()).to.equal("en-GB");
    await dialog.getByLabel("Language").fill("en-US");
    await dialog.getByLabel("Gender").selectOption("m");
    await ids(dialog).fill(String(second));
    await dialog.getByRole("button", { name: "Change voice" }).click();
    await rowOf("Narrator").getByText("en-US").waitFor();
    expect(await voice("Narrator")).to.deep.equal({
      ...before,
      lang: "en-US",
      gender: "m",
      voiceIDs: [second],
    });
    await page.getByRole("button", { name: "Undo" }).click();
    await rowOf("Narrator").getByText("en-GB").waitFor();
    expect(await voice("Narrator")).to.deep.equal(before);
  });

  it("shows in the dialog why a change is refused, and changes nothing", async () => {
    await addNarrator("Commentator");
    const before = await voice("Commentator");
    const dialog = await dialogOf("Commentator", "Change…");
    for (const [label, value, reason] of [
      ["Language", "not a language", /lang/],
      ["Ids of system voices, the preferred one first", "999999", /999999/],
    ] as const) {
      const valid = await dialog.getByLabel(label).inputValue();
      await dialog.getByLabel(label).fill(value);
      await dialog.getByRole("button", { name: "Change voice" }).click();
      await dialog.getByRole("alert").getByText(reason).waitFor();
      await dialog.getByLabel(label).fill(valid);
    }
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await voice("Commentator")).to.deep.equal(before);
  });

  it("restores a deprecated voice", async () => {
    await addNarrator("Announcer");
    const deprecate = await dialogOf("Announcer", "Deprecate…");
    await deprecate.getByRole("button", { name: "Deprecate", exact: true }).click();
    await rowOf("Announcer").getByText("deprecated").waitFor();
    const restore = await dialogOf("Announcer", "Restore…");
    await restore.getByRole("button", { name: "Restore", exact: true }).click();
    await rowOf("Announcer").getByText("current").waitFor();
    await page.getByText("Restored Announcer.").waitFor();
  });

  it("has no serious violation of accessibility rules in the dialog of a voice", async () => {
    await dialogOf("UK English Male", "Change…");
    expect(await opened.violations()).to.deep.equal([]);
    expect(opened.complaints).to.deep.equal([]);
  });
});
