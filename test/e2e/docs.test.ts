import { expect } from "chai";
import { type Browser, openBrowser } from "../support/browser.ts";
import { type InProcessService, startServiceForBrowser } from "../support/in-process-service.ts";

describe("/docs in a browser", () => {
  let service: InProcessService;
  let browser: Browser;

  before(async () => {
    service = await startServiceForBrowser();
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await service.close();
  });

  for (const address of ["/docs", "/docs/"]) {
    it(`renders the OpenAPI document at ${address}, without external resources and without policy violations`, async () => {
      const page = await browser.context.newPage();
      const complaints: string[] = [];
      const requested: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("request", (request) => requested.push(request.url()));
      await page.goto(service.url + address);
      await page.locator("#operations-Synthesis-synthesize .opblock-summary-control").click();
      await page.locator("#operations-Synthesis-synthesize .opblock-body tr[data-param-name=text]").waitFor();
      expect(await page.locator(".title").first().textContent())
        .to.include("Voxledger")
        .and.to.include("2.1.0");
      expect(complaints).to.deep.equal([]);
      const elsewhere = requested.filter((url) => !url.startsWith(service.url) && !url.startsWith("data:"));
      expect(elsewhere).to.deep.equal([]);
      await page.close();
    });
  }

  it("sends requests to the service from the page", async () => {
    const page = await browser.context.newPage();
    await page.goto(`${service.url}/docs`);
    const health = page.locator("#operations-Service-checkHealth");
    await health.locator(".opblock-summary-control").click();
    await health.locator(".try-out__btn").click();
    await health.locator(".execute").click();
    await health.locator(".live-responses-table .response-col_status", { hasText: "200" }).waitFor();
    await page.close();
  });
});
