import { expect } from "chai";
import type { Page } from "playwright-core";
import { openBrowser } from "../support/browser.ts";
import { duringSuite } from "../support/during.ts";
import { startServiceForBrowser } from "../support/in-process-service.ts";

describe("/docs in a browser", () => {
  const service = duringSuite(startServiceForBrowser);
  const browser = duringSuite(openBrowser);

  const expectRendered = async (page: Page, address: string): Promise<void> => {
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
  };

  it("renders the OpenAPI document at /docs, without external resources and without policy violations", async () => {
    const page = await browser.context.newPage();
    await expectRendered(page, "/docs");
    await page.close();
  });

  it("renders the OpenAPI document at /docs/ without policy violations, and sends a tried-out request to the service", async () => {
    const page = await browser.context.newPage();
    // Each rendering of all operations takes seconds of CPU time, and they are the same at both
    // addresses.
    await page.route(`${service.url}/openapi.json`, async (route) => {
      const response = await route.fetch();
      const { paths, ...document } = await response.json();
      const [synthesis, health] = [paths["/v2/text/synthesize"], paths["/health"]];
      const json = { ...document, paths: { "/v2/text/synthesize": synthesis, "/health": health } };
      await route.fulfill({ response, json });
    });
    await expectRendered(page, "/docs/");
    const health = page.locator("#operations-Service-checkHealth");
    await health.locator(".opblock-summary-control").click();
    await health.locator(".try-out__btn").click();
    await health.locator(".execute").click();
    await health.locator(".live-responses-table .response-col_status", { hasText: "200" }).waitFor();
    await page.close();
  });
});
