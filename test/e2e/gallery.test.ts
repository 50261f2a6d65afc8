import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { accessibilityViolations } from "../support/accessibility.ts";
import { type Browser, openBrowser } from "../support/browser.ts";
import { admin } from "../support/client.ts";
import { duringTest } from "../support/during.ts";
import { type InProcessService, startServiceForBrowser } from "../support/in-process-service.ts";

declare const document: {
  querySelector(selector: "audio"): { readonly duration: number; readonly currentTime: number };
};

describe("/voices in a browser", () => {
  const page = duringTest(() => browser.context.newPage());
  let service: InProcessService;
  let browser: Browser;
  let complaints: string[];

  before(async () => {
    const starting = startServiceForBrowser({ VOICE_GALLERY: "on", AUDIO_SHARING: "none" });
    [service, browser] = await Promise.all([starting, openBrowser()]);
  });
  beforeEach(async () => {
    complaints = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
  });
  after(async () => {
    await browser.close();
    await service.close();
  });

  /** The test's timeout ends a wait without success. */
  const untilSpoken = async (): Promise<void> => {
    for (let text = ""; !text.includes("<audio"); await setTimeout(100))
      text = await (await fetch(`${service.url}/voices?lang=en-GB&gender=f`)).text();
  };

  it("plays a sample that the service has spoken by itself and recorded without a charge", async () => {
    await untilSpoken();
    await page.goto(`${service.url}/voices`);
    await page.getByLabel("Language").selectOption("en-GB");
    await page.getByLabel("Gender").selectOption("female");
    await page.getByRole("button", { name: "Show" }).click();
    await page.locator("audio").first().waitFor();
    const url = await page.locator("audio").first().getAttribute("src");
    const audio = await fetch(new URL(url ?? "", page.url()));
    expect([audio.status, audio.headers.get("cache-control")]).to.deep.equal([
      ...[200, "public, max-age=31536000, immutable"],
    ]);
    await page.locator("audio").first().focus();
    await page.keyboard.press("Space");
    await page.waitForFunction(() => document.querySelector("audio").currentTime > 0.3);
    expect(await page.evaluate(() => document.querySelector("audio").duration)).to.be.within(1, 10);
    expect(complaints).to.deep.equal([]);
    const { body } = await admin(service.url, "GET", "/events?type=SampleSpoken&limit=1");
    const [event] = body.entries as { stream: string; data: object }[];
    expect(event?.stream).to.equal("audio");
    expect(event?.data).to.have.all.keys("at", "engine", "format", "hash", "lang", "voice");
    const served = await admin(service.url, "GET", "/events?type=SynthesisServed&limit=1");
    expect(served.body.entries).to.deep.equal([]);
  });

  for (const colorScheme of ["light", "dark"] as const) {
    it(`has no accessibility violation in the ${colorScheme} scheme`, async () => {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${service.url}/voices`);
      expect(await accessibilityViolations(page)).to.deep.equal([]);
    });
  }

  it("is listed by the form at /, which has no accessibility violation", async () => {
    await page.goto(service.url);
    expect(await page.getByLabel("Voice").inputValue()).to.equal("UK English Female");
    await page.getByLabel("Voice").selectOption("French Male");
    expect(await accessibilityViolations(page)).to.deep.equal([]);
  });
});
