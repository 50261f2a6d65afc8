import { expect } from "chai";
import { type Browser, openBrowser } from "../support/browser.ts";
import { type InProcessService, startServiceForBrowser } from "../support/in-process-service.ts";
import { overflowing, pageWidths } from "../support/page-widths.ts";

describe("the pages that need no credentials", () => {
  let service: InProcessService;
  let browser: Browser;

  before(async () => {
    [service, browser] = await Promise.all([startServiceForBrowser({ VOICE_GALLERY: "on" }), openBrowser()]);
  });
  after(async () => {
    await browser.close();
    await service.close();
  });

  for (const [path, content] of [
    ["/", "form"],
    ["/voices", ".voices li"],
    ["/docs", ".swagger-ui .opblock"],
    ["/reproduce", "form"],
  ] as const) {
    it(`fit screens from 360 to 1,600 pixels: ${path}`, async () => {
      const page = await browser.context.newPage();
      await page.goto(`${service.url}${path}`);
      await page.locator(content).first().waitFor();
      for (const width of pageWidths) {
        await page.setViewportSize({ width, height: 900 });
        expect(await overflowing(page), `${width}`).to.deep.equal([]);
        expect(await page.evaluate("document.documentElement.scrollWidth"), `${width}`).to.be.at.most(width);
      }
      await page.close();
    });
  }
});
