import { expect } from "chai";
import { pino } from "pino";
import { composeAuditProof } from "../../../../src/bootstrap/commands/audit-proof.ts";
import { registerAuditProofCommands } from "../../../../src/cli/commands/audit-proof.ts";
import { createProgram, run } from "../../../../src/cli/program.ts";
import { readSettings } from "../../../../src/settings/read-settings.ts";
import { admin, bytesOf, type Credentials, registerWebsite, synthesize } from "../../../support/client.ts";
import { type InProcessService, startInProcessService } from "../../../support/in-process-service.ts";
import { temporaryFolder } from "../../../support/service.ts";
import { serveWebhookReceiver, type WebhookReceiver } from "../../../support/webhook-receiver.ts";

const env = { ALLOW_LOOPBACK_UPSTREAMS: "true" };

describe("webhooks", () => {
  let lines: string[];
  let receiver: WebhookReceiver;
  let service: InProcessService;
  let website: Credentials;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  const start = async (): Promise<void> => {
    const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
    service = await startInProcessService({ ...env, DATA_DIR: folder.path }, log);
  };
  beforeEach(async () => {
    lines = [];
    folder = await temporaryFolder();
    receiver = await serveWebhookReceiver();
    await start();
    website = await registerWebsite(service.url, { monthlyCharacters: 20 });
  });
  afterEach(async () => {
    await service.close();
    await receiver.close();
    await folder.remove();
  });

  const add = async (members: object = {}): Promise<Record<string, string>> => {
    const { status, body } = await admin(service.url, "POST", "/webhooks", { url: receiver.url, ...members });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body as Record<string, string>;
  };
  const speak = async (text: string): Promise<void> => {
    const response = await synthesize(service.url, website, { text, lang: "en-GB" });
    expect(response.status).to.equal(200);
    await bytesOf(response);
  };
  /** Seals and exports the log of the service, and verifies the export. */
  const verifyAudit = async (): Promise<string> => {
    let output = "";
    const program = createProgram(() => Promise.reject(new Error("not used")), {
      writeOut: (text) => {
        output += text;
      },
      writeErr: (text) => {
        output += text;
      },
    });
    const settings = readSettings({
      DATA_DIR: folder.path,
      MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    });
    registerAuditProofCommands(
      program,
      composeAuditProof(() => settings),
    );
    const file = `${folder.path}/export`;
    await run(program, ["node", "voxledger", "audit", "export", file]);
    await run(program, ["node", "voxledger", "audit", "verify", file]);
    return output;
  };
  const sent = () => receiver.received.map(({ body }) => JSON.parse(body));

  it("receive crossed thresholds within seconds", async () => {
    await add({ events: ["quota.threshold_crossed"], websiteId: website.id });
    await speak("Seventeen letters");
    await receiver.seen(2);
    const { id: websiteId, apiKey } = website;
    const data = { apiKey, websiteId, month: "2026-11", characters: 17, quota: 20 };
    expect(
      sent()
        .map((message) => message.data)
        .sort((a, b) => a.threshold - b.threshold),
    ).to.deep.equal([
      { ...data, threshold: 50 },
      { ...data, threshold: 80 },
    ]);
    await speak("Hi"); // counted when it is recorded: the journals were read by the first check
    await receiver.seen(3);
    expect(sent().at(-1).data).to.deep.equal({ ...data, characters: 19, threshold: 95 });
    const { body } = await admin(service.url, "GET", `/keys/${apiKey}`);
    expect(body.usage).to.include({ characters: 19 });
  });

  it("receive after a restart what was crossed shortly before it", async () => {
    const { webhookId } = await add();
    await speak("Nineteen characters");
    await service.close();
    await start();
    await receiver.seen(3);
    expect(
      sent()
        .map(({ data }) => data.threshold)
        .sort(),
    ).to.deep.equal([50, 80, 95]);
    const { body } = await admin(service.url, "GET", `/webhooks/${webhookId}/deliveries?limit=2`);
    expect(body).to.include({ count: 2 }).and.to.have.nested.property("_links.next");
    await service.close();
    expect(await verifyAudit()).to.match(/^genuine: /m);
    await start();
  });

  it("receive a suspension by the quota and of its end by a higher one", async () => {
    await add({ events: ["key.suspended", "key.reinstated"], apiKey: website.apiKey });
    expect(
      (await synthesize(service.url, website, { text: "More than twenty letters.", lang: "en-GB" })).status,
    ).to.equal(403);
    await receiver.seen(1);
    expect(sent()[0]).to.deep.include({ type: "key.suspended" });
    expect(sent()[0].data).to.include({ cause: "quota", websiteId: website.id });
    const plan = { tier: "enterprise", requestsPerMinute: 100, monthlyCharacters: 100 };
    await admin(service.url, "PUT", `/keys/${website.apiKey}/plan`, plan);
    await receiver.seen(2);
    expect(sent()[1]).to.deep.include({ type: "key.reinstated" });
  });

  it("have secrets that appear in no log line and in no other response", async () => {
    receiver.response = () => 500;
    const { webhookId, secret } = await add();
    const { body: rotated } = await admin(service.url, "POST", `/webhooks/${webhookId}/secrets`);
    await admin(service.url, "POST", `/webhooks/${webhookId}/test`);
    await receiver.seen(1);
    const responses: unknown[] = [];
    for (const path of ["/webhooks", `/webhooks/${webhookId}`, `/webhooks/${webhookId}/deliveries`])
      responses.push((await admin(service.url, "GET", path)).body);
    const audit = await fetch(`${service.url}/admin/audit`, {
      headers: { Authorization: "Bearer an-operator's-token-for-tests" },
    });
    const output = [JSON.stringify(responses), await audit.text(), ...lines].join("\n");
    expect(output).to.include(webhookId).and.to.include("WebhookSecretRotated");
    for (const clear of [secret, rotated.secret]) expect(output).to.not.include(String(clear).slice(6));
  });

  it("are refused with an address that is not allowed", async () => {
    for (const url of [
      "http://example.com/",
      "https://169.254.169.254/latest",
      "https://metadata.google.internal/",
      "https://10.0.0.7/",
      "https://[fd00::7]/",
      "https://receiver.tools.svc.cluster.local/",
      "https://receiver/",
      "https://user:password@example.com/",
      "ftp://example.com/",
    ]) {
      const { status, body } = await admin(service.url, "POST", "/webhooks", { url });
      expect([status, JSON.stringify(body)], url).to.satisfy(
        ([code, text]: [number, string]) => code === 400 && text.includes("url"),
      );
    }
  });
});
