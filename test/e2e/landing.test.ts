import { expect } from "chai";
import { accessibilityViolations } from "../support/accessibility.ts";
import { openBrowser } from "../support/browser.ts";
import { type Credentials, registerWebsite } from "../support/client.ts";
import { duringSuite, duringTest } from "../support/during.ts";
import { startServiceForBrowser } from "../support/in-process-service.ts";

declare const document: {
  readonly documentElement: { readonly scrollWidth: number };
  querySelector(selector: "audio"): { readonly duration: number; readonly currentTime: number };
};

describe("/ in a browser", () => {
  const service = duringSuite(startServiceForBrowser);
  const browser = duringSuite(openBrowser);
  const website = duringSuite(() => registerWebsite(service.url));
  const page = duringTest(() => browser.context.newPage());
  let complaints: string[];
  let requested: string[];

  beforeEach(async () => {
    [complaints, requested] = [[], []];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => requested.push(request.url()));
    await page.goto(service.url);
  });

  const fillIn = async ({ apiKey, apiSecret }: Pick<Credentials, "apiKey" | "apiSecret">): Promise<void> => {
    await page.getByLabel("API key").fill(apiKey);
    await page.getByLabel("API secret").fill(apiSecret);
  };

  it("speaks a sentence with the credentials of the form, which appear in no URL", async () => {
    await fillIn(website);
    await page.getByLabel("Text").fill("Good morning.");
    await page.getByRole("button", { name: "Speak" }).click();
    await page.getByRole("status").filter({ hasText: "seconds of audio" }).waitFor();
    await page.waitForFunction(() => document.querySelector("audio").currentTime > 0.3);
    expect(await page.evaluate(() => document.querySelector("audio").duration)).to.be.within(0.5, 3);
    expect(complaints).to.deep.equal([]);
    expect(
      requested.filter((url) => !/^(data|blob):/.test(url) && !url.startsWith(service.url)),
    ).to.deep.equal([]);
    expect(requested.join()).to.not.include(website.apiKey).and.not.include(website.apiSecret);
  });

  it("shows the service's reason for a refusal, and speaks after it was corrected", async () => {
    await fillIn({ ...website, apiSecret: "wrong" });
    await page.getByRole("button", { name: "Speak" }).click();
    await page.locator("#status.error").filter({ hasText: "secret" }).waitFor();
    await fillIn(website);
    await page.getByLabel("Voice").fill("A voice that does not exist");
    await page.getByRole("button", { name: "Speak" }).click();
    await page.locator("#status.error").filter({ hasText: "A voice that does not exist" }).waitFor();
    await page.getByLabel("Voice").fill("French Male");
    await page.getByRole("button", { name: "Speak" }).click();
    await page.locator("#status:not(.error)").filter({ hasText: "seconds of audio" }).waitFor();
  });

  it("links to pages that exist", async () => {
    const links = page.getByRole("navigation").getByRole("link");
    const hrefs = await links.evaluateAll((all) =>
      all.map((link) => (link as unknown as { href: string }).href),
    );
    expect(hrefs.length).to.be.above(3);
    for (const href of hrefs) expect((await fetch(href)).status).to.equal(200);
  });

  for (const colorScheme of ["light", "dark"] as const) {
    it(`has no accessibility violation in the ${colorScheme} scheme, and fits into 360 pixels`, async () => {
      await page.emulateMedia({ colorScheme });
      expect(await accessibilityViolations(page)).to.deep.equal([]);
      await page.setViewportSize({ width: 360, height: 640 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(360);
    });
  }
});
