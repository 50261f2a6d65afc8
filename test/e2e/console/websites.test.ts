import { expect } from "chai";
import type { Locator, Page, Response } from "playwright-core";
import { type Browser, openBrowser } from "../../support/browser.ts";
import { admin, registerWebsite } from "../../support/client.ts";
import { type ConsolePage, openConsole } from "../../support/console-page.ts";
import { duringSuite, duringTest } from "../../support/during.ts";
import { type InProcessService, startServiceForBrowser } from "../../support/in-process-service.ts";
import { adminToken } from "../../support/service.ts";
import { azureVoices } from "../../support/wire/azure.ts";
import { googleVoices } from "../../support/wire/google.ts";
import { goodCredentials, serveProviders } from "../../support/wire/providers.ts";

const auditorToken = "auditor-token-0123456789";

describe("the console's screen of a website", () => {
  const providers = duringSuite(serveProviders);
  const website = duringTest(() => registerWebsite(service.url));
  let service: InProcessService;
  let browser: Browser;
  let opened: ConsolePage;
  let responses: Response[];

  before(async () => {
    const env = { ...providers.env, AUDITOR_TOKEN: `carol=${auditorToken}` };
    [service, browser] = await Promise.all([startServiceForBrowser(env), openBrowser()]);
  });
  afterEach(() => opened.page.close());
  after(async () => {
    await browser.close();
    await service.close();
  });

  const open = async (token = adminToken): Promise<Page> => {
    opened = await openConsole(browser, service.url, token);
    responses = [];
    opened.page.on("response", (response) => responses.push(response));
    await opened.goTo(`#/websites/${website.id}`);
    return opened.page;
  };
  const accounts = (page: Page): Locator =>
    page.getByRole("table", { name: "Engines on the website's own credentials" }).locator("tbody tr");
  const give = (engine: "gwn" | "msv" | "oai") =>
    admin(service.url, "PUT", `/websites/${website.id}/credentials/${engine}`, goodCredentials[engine]);
  /** Opens the form, chooses the engine and fills in the fields. */
  const fillCredentials = async (
    page: Page,
    engine: string,
    values: Readonly<Record<string, string>>,
  ): Promise<Locator> => {
    await page.getByRole("button", { name: "Set credentials…" }).click();
    const dialog = page.getByRole("dialog", { name: "Set credentials" });
    await dialog.getByLabel("Engine").selectOption(engine);
    for (const [label, value] of Object.entries(values)) await dialog.getByLabel(label).fill(value);
    return dialog;
  };
  /** What the page shows and what the service has sent to it. */
  const everythingSeen = async (page: Page): Promise<string> => {
    const bodies = await Promise.all(responses.map((response) => response.text().catch(() => "")));
    const fields = await page
      .locator("input, textarea")
      .evaluateAll("(all) => all.map(({ value }) => value)");
    return [await page.content(), ...bodies, JSON.stringify(fields)].join("\n");
  };

  it("renames the website, and suggests its name unless that is lost", async () => {
    const page = await open();
    const heading = page.getByRole("heading", { level: 1 });
    const rename = async (name: string): Promise<string> => {
      await page.getByRole("button", { name: "Rename…" }).click();
      const dialog = page.getByRole("dialog", { name: "Rename the website" });
      const suggested = await dialog.getByLabel("Name").inputValue();
      await dialog.getByLabel("Name").fill(name);
      await dialog.getByRole("button", { name: "Rename" }).click();
      return suggested;
    };
    await rename("Market");
    await heading.getByText("Market", { exact: true }).waitFor();
    // No key decrypts this.
    expect(await rename(`encrypted:v1.${"A".repeat(40)}`)).to.equal("Market");
    await heading.getByText("(lost)", { exact: true }).waitFor();
    expect(await rename("Shop")).to.equal("");
    await heading.getByText("Shop", { exact: true }).waitFor();
    expect(opened.complaints).to.deep.equal([]);
  });

  it("sets credentials that the provider accepts, and shows the engine without them", async () => {
    const { apiKey } = goodCredentials.gwn;
    const page = await open();
    await page.getByText("The website has no credentials of its own.").waitFor();
    const dialog = await fillCredentials(page, "gwn", { "API key": apiKey });
    expect(await dialog.getByLabel("API key").getAttribute("type")).to.equal("password");
    await dialog.getByRole("button", { name: "Verify and set" }).click();
    const listed = `accepted the credentials for gwn and listed ${googleVoices.length} voices`;
    await page.getByText(listed).waitFor();
    await accounts(page).getByText("gwn (google)").waitFor();
    expect(await everythingSeen(page)).to.not.include(apiKey);
    await page.getByRole("button", { name: "Set credentials…" }).click();
    expect(await page.getByLabel("API key").inputValue()).to.equal("");
    expect(opened.complaints).to.deep.equal([]);
  });

  it("has the fields of each engine, and leaves out those that are optional and empty", async () => {
    const page = await open();
    const { subscriptionKey, region } = goodCredentials.msv;
    const azure = await fillCredentials(page, "msv", { "Subscription key": subscriptionKey, Region: region });
    await azure.getByRole("button", { name: "Verify and set" }).click();
    await page.getByText(`for msv and listed ${azureVoices.length} voices`).waitFor();
    const openAi = await fillCredentials(page, "oai", { "API key": goodCredentials.oai.apiKey });
    expect(await openAi.getByLabel("Base URL").inputValue()).to.equal("");
    await openAi.getByRole("button", { name: "Verify and set" }).click();
    await page.getByText("accepted the credentials for oai").waitFor();
    await accounts(page).nth(1).waitFor();
    expect(await everythingSeen(page))
      .to.not.include(subscriptionKey)
      .and.to.not.include(goodCredentials.oai.apiKey);
  });

  it("shows the provider's refusal of credentials, without them, and stores nothing", async () => {
    const wrong = "wrong-key-5e1f0c93";
    const page = await open();
    const dialog = await fillCredentials(page, "msv", { "Subscription key": wrong, Region: "westeurope" });
    await dialog.getByRole("button", { name: "Verify and set" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/invalid subscription key/)
      .waitFor();
    expect(await page.content()).to.not.include(wrong);
    expect(
      (await Promise.all(responses.map((response) => response.text().catch(() => "")))).join(),
    ).to.not.include(wrong);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The website has no credentials of its own.").waitFor();
  });

  it("removes credentials after a confirmation", async () => {
    await give("gwn");
    const page = await open();
    await accounts(page).getByRole("button", { name: "Remove…" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove these credentials?" });
    await dialog.getByText("The voices of gwn leave the catalog").waitFor();
    await dialog.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByText("Removed the credentials for gwn.").waitFor();
    await page.getByText("The website has no credentials of its own.").waitFor();
    const { body } = await admin(service.url, "GET", `/websites/${website.id}/credentials`);
    expect(body.credentials).to.deep.equal([]);
  });

  it("shows auditors the engines with credentials, without an action", async () => {
    await give("gwn");
    const page = await open(auditorToken);
    await accounts(page).getByText("gwn (google)").waitFor();
    expect(await page.getByRole("button", { name: /…/ }).allTextContents()).to.deep.equal([]);
    expect(await everythingSeen(page)).to.not.include(goodCredentials.gwn.apiKey);
    await opened.goTo("#/providers");
    const all = page.getByRole("table", { name: "Provider accounts of websites" });
    const link = all.locator(`a[href="#/websites/${website.id}"]`);
    await link.waitFor();
  });

  it("issues a verification token, shows it once, and then has the origin that it proved", async () => {
    const origin = "https://new.example";
    const page = await open();
    await page.getByText("None: browsers cannot use the key without its secret.").waitFor();
    await page.getByRole("button", { name: "Issue a verification token…" }).click();
    const dialog = page.getByRole("dialog", { name: "Issue a verification token" });
    await dialog.getByLabel("Origin").fill("ftp://new.example");
    await dialog.getByRole("button", { name: "Issue token" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/origin/)
      .waitFor();
    await dialog.getByLabel("Origin").fill(`${origin}/`);
    await dialog.getByRole("button", { name: "Issue token" }).click();
    const shown = page.getByRole("dialog", { name: "The verification token" });
    const token = (await shown.locator(".secret").textContent()) ?? "";
    expect(token).to.match(/^vlv_/);
    await shown.getByRole("button", { name: "Copy secret" }).waitFor();
    await shown.getByRole("button", { name: "Done" }).click();
    expect(await page.content()).to.not.include(token);
    const headers = { Authorization: `Bearer ${token}`, Origin: origin };
    const proven = await fetch(`${service.url}/v2/auth/verify-origin`, { method: "POST", headers });
    expect(await proven.json()).to.deep.equal({ verified: true, origin });
    await opened.goTo("#/websites");
    await opened.goTo(`#/websites/${website.id}`);
    await page.getByRole("listitem").getByText(origin, { exact: true }).waitFor();
  });
});
