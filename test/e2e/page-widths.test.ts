import { expect } from "chai";
import { openBrowser } from "../support/browser.ts";
import { duringSuite } from "../support/during.ts";
import { startServiceForBrowser } from "../support/in-process-service.ts";
import { overflowing, pageWidths } from "../support/page-widths.ts";

describe("the pages that need no credentials", () => {
  const service = duringSuite(() => startServiceForBrowser({ VOICE_GALLERY: "on" }));
  const browser = duringSuite(openBrowser);

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
