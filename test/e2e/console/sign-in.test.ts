import { expect } from "chai";
import type { Page } from "playwright-core";
import { openBrowser } from "../../support/browser.ts";
import { duringSuite } from "../../support/during.ts";
import { startServiceForBrowser } from "../../support/in-process-service.ts";
import { adminToken } from "../../support/service.ts";

const auditorToken = "auditor-token-0123456789";

describe("signing in to the console", () => {
  const service = duringSuite(() => startServiceForBrowser({ AUDITOR_TOKEN: `carol=${auditorToken}` }));
  const browser = duringSuite(openBrowser);
  let page: Page;
  let complaints: string[];

  beforeEach(async () => {
    complaints = [];
    page = await browser.context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
  });
  afterEach(() => page.close());

  const signIn = async (token: string, { stay = false } = {}): Promise<void> => {
    await page.getByLabel("Token").fill(token);
    if (stay) await page.getByLabel("Stay signed in for this tab").check();
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  const isSignedIn = () => page.getByRole("button", { name: "Sign out" }).waitFor();
  const isSignedOut = () => page.getByRole("button", { name: "Sign in" }).waitFor();

  for (const address of ["/console", "/console/"]) {
    it(`opens ${address} without external resources, policy violations or cookies`, async () => {
      const requested: string[] = [];
      page.on("request", (request) => requested.push(request.url()));
      await page.goto(service.url + address);
      await signIn(adminToken);
      await isSignedIn();
      expect(complaints).to.deep.equal([]);
      expect(
        requested.filter((url) => !url.startsWith(service.url) && !url.startsWith("data:")),
      ).to.deep.equal([]);
      expect(await browser.context.cookies()).to.deep.equal([]);
    });
  }

  it("shows the name and the role of the token", async () => {
    await page.goto(`${service.url}/console`);
    await signIn(auditorToken);
    await page.getByText("carol auditor").waitFor();
  });

  it("refuses an unknown token with a message at the field", async () => {
    await page.goto(`${service.url}/console`);
    await signIn("unknown-token-0123456789");
    await page.getByText("The service does not know this token.").waitFor();
    expect(await page.getByLabel("Token").getAttribute("aria-invalid")).to.equal("true");
  });

  it("keeps the token only in memory: a reload signs out", async () => {
    await page.goto(`${service.url}/console`);
    await signIn(adminToken);
    await isSignedIn();
    expect(await page.evaluate("JSON.stringify([sessionStorage, localStorage])")).to.not.include(adminToken);
    await page.reload();
    await isSignedOut();
  });

  it("stays signed in for the tab if asked, until the person signs out", async () => {
    await page.goto(`${service.url}/console`);
    await signIn(adminToken, { stay: true });
    await isSignedIn();
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).click();
    await isSignedOut();
    await page.reload();
    await isSignedOut();
  });

  it("signs out with a message when the service no longer accepts the token", async () => {
    await page.goto(`${service.url}/console`);
    await signIn(adminToken);
    await isSignedIn();
    const unauthorized = { error: { message: "The admin token is missing or wrong.", statusCode: 401 } };
    await page.route("**/admin/**", (route) => route.fulfill({ status: 401, json: unauthorized }));
    // Not a click: a request of the first screen may sign out before it, and the link is gone.
    await page.evaluate("location.hash = '#/keys'");
    await page.getByText("The service no longer accepts this token. Sign in again.").waitFor();
    await isSignedOut();
  });
});
