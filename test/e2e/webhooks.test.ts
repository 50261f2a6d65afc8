import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { admin, bytesOf, registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite, duringTest } from "../support/during.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";
import { serveWebhookReceiver, verifyMessage } from "../support/webhook-receiver.ts";

const env = { ALLOW_LOOPBACK_UPSTREAMS: "true" };

describe("webhooks of a service that is killed", () => {
  const folder = duringSuite(temporaryFolder);
  const receiver = duringTest(serveWebhookReceiver);
  const website = duringTest(() => registerWebsite(service.url, { monthlyCharacters: 20 }));
  let service: RunningService;
  let webhook: Record<string, string>;

  before(async () => {
    service = await startService(folder.path, env);
  });
  after(async () => {
    await service.stop();
  });
  beforeEach(async () => {
    const { status, body } = await admin(service.url, "POST", "/webhooks", { url: receiver.url });
    expect(status, JSON.stringify(body)).to.equal(201);
    webhook = body as Record<string, string>;
  });
  afterEach(async () => {
    await admin(service.url, "DELETE", `/webhooks/${webhook.webhookId}`);
  });

  const speak = async (text: string): Promise<void> => {
    const response = await synthesize(service.url, website, { text, lang: "en-GB" });
    expect(response.status).to.equal(200);
    await bytesOf(response);
  };
  const restart = async (): Promise<void> => {
    await service.kill();
    service = await startService(folder.path, env);
  };
  const deliveries = async (): Promise<{ status: string; attempts: { error?: string }[] }[]> => {
    const { body } = await admin(service.url, "GET", `/webhooks/${webhook.webhookId}/deliveries`);
    return body.deliveries as Awaited<ReturnType<typeof deliveries>>;
  };
  /** Polls until the condition holds; the test's own timeout is the limit. */
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await delay(50);
  };
  const thresholds = () => receiver.received.map(({ body }) => JSON.parse(body).data.threshold).sort();

  it("receive what was crossed by the last request before SIGKILL, without a further request", async () => {
    await speak("Seventeen letters");
    await restart();
    await until(async () => new Set(thresholds()).size === 2);
    expect([...new Set(thresholds())]).to.deep.equal([50, 80]);
    for (const message of receiver.received) verifyMessage(message, webhook.secret ?? "");
  });

  it("receive again after SIGKILL what they had refused, with the same ids", async () => {
    receiver.response = () => 500;
    await speak("Ten letter");
    await until(async () => (await deliveries())[0]?.attempts[0]?.error !== undefined);
    receiver.response = () => 204;
    await restart();
    await until(async () => (await deliveries())[0]?.status === "succeeded");
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
    expect(receiver.received.length).to.be.at.least(2);
  });
});
