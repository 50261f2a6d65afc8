import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { webhookEventTypes } from "../../../src/domain/webhooks/message.ts";
import { type Browser, openBrowser } from "../../support/browser.ts";
import { admin, type Credentials, registerWebsite } from "../../support/client.ts";
import { type ConsolePage, openConsole } from "../../support/console-page.ts";
import { duringTest } from "../../support/during.ts";
import { type InProcessService, startServiceForBrowser } from "../../support/in-process-service.ts";
import { adminToken } from "../../support/service.ts";
import { serveWebhookReceiver, verifyMessage } from "../../support/webhook-receiver.ts";

const auditorToken = "auditor-token-0123456789";

describe("the console's screens of webhooks", () => {
  const receiver = duringTest(serveWebhookReceiver);
  let service: InProcessService;
  let browser: Browser;
  let website: Credentials;
  let opened: ConsolePage;

  before(async () => {
    const env = { AUDITOR_TOKEN: `carol=${auditorToken}`, ALLOW_LOOPBACK_UPSTREAMS: "true" };
    [service, browser] = await Promise.all([startServiceForBrowser(env), openBrowser()]);
    website = await registerWebsite(service.url);
  });
  afterEach(async () => {
    await opened.page.close();
    const { webhooks } = (await admin(service.url, "GET", "/webhooks")).body;
    for (const { webhookId } of webhooks as { webhookId: string }[])
      await admin(service.url, "DELETE", `/webhooks/${webhookId}`);
  });
  after(async () => {
    await browser.close();
    await service.close();
  });

  const open = async (token: string, place: string): Promise<Page> => {
    opened = await openConsole(browser, service.url, token, place);
    return opened.page;
  };
  const addWebhook = async (members: object = {}): Promise<{ webhookId: string; secret: string }> => {
    const { status, body } = await admin(service.url, "POST", "/webhooks", { url: receiver.url, ...members });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body as { webhookId: string; secret: string };
  };
  const openWebhook = async (token = adminToken) => {
    const webhook = await addWebhook();
    return { ...webhook, page: await open(token, `#/webhooks/${webhook.webhookId}`) };
  };
  /**
   * Polls a resource of the admin API until the condition holds; the test's own timeout is the
   * limit.
   */
  const until = async (path: string, holds: (body: Record<string, unknown>) => boolean): Promise<void> => {
    while (!holds((await admin(service.url, "GET", path)).body)) await delay(50);
  };
  /** Sends a test message, and resolves when its first attempt has ended. */
  const deliver = async (webhookId: string): Promise<void> => {
    await admin(service.url, "POST", `/webhooks/${webhookId}/test`);
    await until(`/webhooks/${webhookId}/deliveries`, ({ deliveries }) => {
      const [delivery] = deliveries as { attempts: { endedAt?: string }[] }[];
      return delivery?.attempts[0]?.endedAt !== undefined;
    });
  };
  const confirm = async (page: Page, title: string, action: string): Promise<void> => {
    const dialog = page.getByRole("dialog", { name: title });
    await dialog.getByRole("button", { name: action, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  };
  const takeSecret = async (page: Page): Promise<string> => {
    await page.getByRole("button", { name: "Copy secret" }).waitFor();
    const secret = (await page.locator(".secret").textContent()) ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    return secret;
  };

  for (const [role, token] of [
    ["an operator", adminToken],
    ["an auditor", auditorToken],
  ] as const) {
    it(`have no serious violation of accessibility rules, and fit 360 pixels, for ${role}, light and dark`, async () => {
      const { webhookId, page } = await openWebhook(token);
      await deliver(webhookId);
      await page.setViewportSize({ width: 360, height: 800 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        for (const place of ["#/webhooks", `#/webhooks/${webhookId}`]) {
          await opened.goTo(place);
          expect(await opened.violations(), `${place} ${colorScheme}`).to.deep.equal([]);
          expect(await page.evaluate("document.documentElement.scrollWidth"), place).to.be.at.most(360);
        }
      }
      await page
        .getByRole("table", { name: /newest first/ })
        .getByRole("button", { name: /-/ })
        .click();
      await page.getByRole("dialog", { name: "Message of type webhook.test" }).waitFor();
      expect(await opened.violations(), "the dialog of a message").to.deep.equal([]);
      expect(opened.complaints).to.deep.equal([]);
    });
  }

  it("open a dialog in the middle of the window", async () => {
    const { page } = await openWebhook(adminToken);
    await opened.goTo("#/webhooks");
    await page.getByRole("button", { name: "Add a webhook…" }).click();
    const box = await page.getByRole("dialog").boundingBox();
    const height = page.viewportSize()?.height ?? 0;
    const middle = (box?.y ?? 0) + (box?.height ?? 0) / 2;
    expect(middle).to.be.closeTo(height / 2, 1);
  });

  it("offer auditors no action", async () => {
    const { page } = await openWebhook(auditorToken);
    const actions = page.getByRole("button", { name: /…/ });
    expect(await actions.allTextContents()).to.deep.equal([]);
    await opened.goTo("#/webhooks");
    await page.getByRole("link", { name: receiver.url }).waitFor();
    expect(await actions.allTextContents()).to.deep.equal([]);
  });

  it("say that there is no webhook, and that an id is unknown", async () => {
    const page = await open(auditorToken, "#/webhooks");
    await page.getByText("There is no webhook.").waitFor();
    await opened.goTo("#/webhooks/whk_none");
    await page.getByRole("alert").getByText("There is no such webhook.").waitFor();
  });

  it("add a webhook with a filter and some events, and show its secret once", async () => {
    const page = await open(adminToken, "#/webhooks");
    await page.getByRole("button", { name: "Add a webhook…" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a webhook" });
    await dialog.getByLabel("Address").fill(receiver.url);
    await dialog.getByLabel("key.suspended").uncheck();
    await dialog.getByLabel("key.reinstated").uncheck();
    await dialog.getByLabel("Only keys of the website").fill(website.id);
    await dialog.getByLabel("Only the key").fill(website.apiKey);
    await dialog.getByRole("button", { name: "Add webhook" }).click();
    const secret = await takeSecret(page);
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await page.content()).to.not.include(secret);
    const row = page.getByRole("table", { name: "Webhooks" }).locator("tbody tr");
    const cells = await row.locator("td").allInnerTexts();
    expect(cells.slice(0, 4).map((text) => text.replaceAll(/\s+/g, " ").trim())).to.deep.equal([
      receiver.url,
      "quota.threshold_crossed",
      `${website.id} ${website.apiKey}`,
      "enabled",
    ]);
    const link = row.getByRole("link", { name: website.id });
    expect(await link.getAttribute("href")).to.equal(`#/websites/${website.id}`);
  });

  it("show in the dialog why an address, a list of events or a key is refused", async () => {
    const page = await open(adminToken, "#/webhooks");
    await page.getByRole("button", { name: "Add a webhook…" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a webhook" });
    const isRefused = async (reason: string | RegExp): Promise<void> => {
      await dialog.getByRole("button", { name: "Add webhook" }).click();
      await dialog.getByRole("alert").getByText(reason).waitFor();
    };
    await dialog.getByLabel("Address").fill("http://example.com/hook");
    await isRefused("only https may leave this machine");
    await dialog.getByLabel("Address").fill("https://example.com/hook");
    await dialog.getByLabel("Only the key").fill("vlk_none");
    await isRefused("There is no such key.");
    for (const type of webhookEventTypes) await dialog.getByLabel(type).uncheck();
    await isRefused(/events/);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect((await admin(service.url, "GET", "/webhooks")).body.count).to.equal(0);
  });

  it("send a test message, signed with the webhook's secret", async () => {
    const { secret, page } = await openWebhook();
    await page.getByRole("button", { name: "Test message…" }).click();
    await confirm(page, "Send a test message?", "Send");
    await page.getByText("Queued a test message.").waitFor();
    await page.getByRole("cell", { name: "webhook.test" }).waitFor();
    await receiver.seen(1);
    verifyMessage(receiver.received[0] ?? { headers: {}, body: "" }, secret);
  });

  it("show each attempt of a message with its response", async () => {
    receiver.response = () => 500;
    const { webhookId, page } = await openWebhook();
    await page.getByText("Nothing was sent to this webhook.").waitFor();
    await deliver(webhookId);
    await page.getByRole("button", { name: "Read again" }).click();
    const row = page.getByRole("row", { name: /webhook\.test/ });
    await row.waitFor();
    await row.getByText("pending").waitFor();
    await row.getByRole("button").click();
    const dialog = page.getByRole("dialog", { name: "Message of type webhook.test" });
    const attempts = dialog.getByRole("table", { name: "Attempts" }).locator("tbody tr");
    expect(await attempts.first().innerText()).to.match(/^1\s.*UTC\s.*HTTP 500/s);
    expect(await dialog.getByLabel("Data of the message").textContent()).to.include(webhookId);
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor({ state: "detached" });
  });

  it("replace the secret after a confirmation, and show the new one once", async () => {
    const { secret, webhookId, page } = await openWebhook();
    await page.getByRole("button", { name: "New secret…" }).click();
    await page.getByRole("button", { name: "Replace secret" }).click();
    const replaced = await takeSecret(page);
    expect(replaced)
      .to.match(/^whsec_/)
      .and.to.not.equal(secret);
    expect(await page.content()).to.not.include(replaced);
    await deliver(webhookId);
    for (const known of [secret, replaced])
      verifyMessage(receiver.received[0] ?? { headers: {}, body: "" }, known);
  });

  it("disable a webhook, undo that, and enable it", async () => {
    const { page } = await openWebhook();
    const disable = async () => {
      await page.getByRole("button", { name: "Disable…" }).click();
      await confirm(page, "Disable this webhook?", "Disable");
      await page.getByText("by an operator, since").waitFor();
    };
    await disable();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Undone.").waitFor();
    await disable();
    await page.getByRole("button", { name: "Enable…" }).click();
    await confirm(page, "Enable this webhook?", "Enable");
    await page.getByText("enabled", { exact: true }).waitFor();
  });

  it("say that the receiver has disabled a webhook", async () => {
    receiver.response = () => 410;
    const { webhookId } = await addWebhook();
    await deliver(webhookId);
    await until(`/webhooks/${webhookId}`, ({ status }) => status === "disabled");
    const page = await open(auditorToken, "#/webhooks");
    await page.getByText("the receiver responded with 410 Gone, since").waitFor();
  });

  it("change the address and the events of a webhook, and undo it", async () => {
    const { page } = await openWebhook();
    await page.getByRole("button", { name: "Change…" }).click();
    const dialog = page.getByRole("dialog", { name: "Change the webhook" });
    expect(await dialog.getByLabel("Address").inputValue()).to.equal(receiver.url);
    await dialog.getByLabel("Address").fill(`${receiver.url}/new`);
    await dialog.getByLabel("key.suspended").uncheck();
    await confirm(page, "Change the webhook", "Change webhook");
    await page.getByText(`${receiver.url}/new`, { exact: true }).waitFor();
    await page.getByText("quota.threshold_crossed, key.reinstated").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("quota.threshold_crossed, key.suspended, key.reinstated").waitFor();
    await page.getByText(receiver.url, { exact: true }).waitFor();
  });

  it("remove a webhook after a confirmation", async () => {
    const { webhookId, page } = await openWebhook();
    await page.getByRole("button", { name: "Remove…" }).click();
    await confirm(page, "Remove this webhook?", "Remove");
    await page.getByText(`Removed ${webhookId}.`).waitFor();
    await page.getByText("There is no webhook.").waitFor();
    expect((await admin(service.url, "GET", "/webhooks")).body.count).to.equal(0);
  });
});
