import { expect } from "chai";
import { hashSecret } from "../../../src/application/access/secrets.ts";
import { keyStream, maxSecrets } from "../../../src/domain/accounts/key.ts";
import { freePlan, planOf } from "../../../src/domain/accounts/plan.ts";
import { Conflict, NotFound } from "../../../src/domain/errors.ts";
import { duringSuite } from "../../support/during.ts";
import { testPrincipal } from "../../support/principal.ts";
import { rejection } from "../../support/rejection.ts";
import { servedAudio } from "../../support/served-audio.ts";
import { openTestLedger, record } from "../../support/test-ledger.ts";
import { openAdminServices } from "./admin-fixture.ts";

const admin = { actor: "admin", requestId: "req-1" };
const now = "2026-03-01T12:00:00.000Z";

describe("keys over a store", () => {
  const service = duringSuite(openAdminServices);
  let websiteId: string;

  before(async () => {
    websiteId = (await service.websites.register({ name: "Shop", origins: [], plan: freePlan }, admin)).id;
  });

  /** A response of another instance, at this time. */
  const serve = async (apiKey: string, at: string, characters: number): Promise<void> => {
    const opened = await openTestLedger(service.store, () => Date.parse(at));
    const principal = testPrincipal({ apiKey, websiteId, plan: freePlan });
    await record(opened.ledger, principal, servedAudio({ characters }));
    await opened.close(1_000);
  };

  const issue = (plan = freePlan) => service.keys.issue(websiteId, plan, admin);

  it("are issued with one secret, which the log contains only as a hash", async () => {
    const key = await issue();
    expect(key).to.deep.include({ websiteId, plan: freePlan });
    expect(key.apiSecret).to.match(/^vls_[\w-]{43}$/);
    const events = await service.read(keyStream(key.apiKey));
    expect(events.map(({ type }) => type)).to.deep.equal(["KeyIssued", "SecretCreated"]);
    expect(events[1]?.data).to.deep.equal({
      secretId: key.secretId,
      hash: hashSecret(key.apiSecret),
      at: now,
    });
    expect(JSON.stringify(events)).to.not.contain(key.apiSecret);
  });

  it("have ids without the separator of stream names", async () => {
    for (let i = 0; i < 20; i++) expect((await issue()).apiKey).to.match(/^vlk_[0-9A-Za-z]{24}$/);
  });

  it("are logged with the actor and the request", async () => {
    const { apiKey } = await issue();
    for (const { metadata } of await service.read(keyStream(apiKey))) {
      expect(metadata).to.deep.equal({ actor: "admin", correlationId: "req-1" });
    }
  });

  it("are refused for an unknown website", async () => {
    const before = service.keys.list().length;
    expect(await rejection(service.keys.issue("web_none", freePlan, admin))).to.be.instanceOf(NotFound);
    expect(service.keys.list()).to.have.length(before);
  });

  it("are shown as soon as they are issued, without a hash", async () => {
    const { apiKey, secretId, apiSecret } = await issue(planOf("commercial"));
    const shown = await service.keys.get(apiKey);
    expect(shown).to.deep.equal({
      apiKey,
      websiteId,
      status: "active",
      plan: planOf("commercial"),
      secrets: [{ secretId, createdAt: now }],
      issuedAt: now,
      usage: { month: "2026-03", characters: 0, quota: null, asOfPosition: 0 },
    });
    expect(JSON.stringify(shown)).to.not.contain(hashSecret(apiSecret));
  });

  it("are not found if they were never issued", async () => {
    const commands = [
      service.keys.get("vlk_none"),
      service.keys.createSecret("vlk_none", admin),
      service.keys.revokeSecret("vlk_none", "sec_1", admin),
      service.keys.changePlan("vlk_none", freePlan, admin),
      service.keys.suspend("vlk_none", "abuse", admin),
      service.keys.reinstate("vlk_none", "paid", admin),
    ];
    for (const command of commands) expect(await rejection(command)).to.be.instanceOf(NotFound);
  });

  it("show only this month's characters against the quota", async () => {
    const { apiKey } = await issue();
    await serve(apiKey, "2026-02-01T12:00:00.000Z", 7);
    await serve(apiKey, "2026-03-01T12:00:00.000Z", 30);
    await serve(apiKey, "2026-03-01T12:00:00.000Z", 12);
    const { usage } = await service.keys.get(apiKey);
    expect(usage).to.include({ month: "2026-03", characters: 42, quota: 1_000_000 });
    expect(usage?.asOfPosition).to.be.above(0);
  });

  it("start each month in UTC with zero usage", async () => {
    const { apiKey } = await issue();
    await serve(apiKey, "2026-03-01T12:00:00.000Z", 30);
    const was = service.time.now;
    try {
      service.time.now = Date.parse("2026-03-31T23:59:59.999Z");
      expect((await service.keys.get(apiKey)).usage).to.deep.include({ month: "2026-03", characters: 30 });
      service.time.now += 1;
      expect((await service.keys.get(apiKey)).usage).to.deep.include({ month: "2026-04", characters: 0 });
    } finally {
      service.time.now = was;
    }
  });

  it("can have further secrets, each valid until it is revoked", async () => {
    const { apiKey, secretId } = await issue();
    const second = await service.keys.createSecret(apiKey, admin);
    expect((await service.keys.get(apiKey)).secrets.map((secret) => secret.secretId)).to.deep.equal([
      secretId,
      second.secretId,
    ]);
    await service.keys.revokeSecret(apiKey, secretId, admin);
    expect((await service.keys.get(apiKey)).secrets.map((secret) => secret.secretId)).to.deep.equal([
      second.secretId,
    ]);
    expect(await rejection(service.keys.revokeSecret(apiKey, secretId, admin))).to.be.instanceOf(NotFound);
  });

  it("never exceed the maximum number of secrets, even with concurrent commands", async () => {
    const { apiKey } = await issue();
    const attempts = Array.from({ length: 15 }, () => service.keys.createSecret(apiKey, admin));
    const outcomes = await Promise.allSettled(attempts);
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).to.have.length(15 - (maxSecrets - 1));
    for (const { reason } of refused) expect(reason).to.be.instanceOf(Conflict);
    expect((await service.keys.get(apiKey)).secrets).to.have.length(maxSecrets);
  });

  it("can change their plan", async () => {
    const { apiKey } = await issue();
    const changed = await service.keys.changePlan(apiKey, planOf("commercial"), admin);
    expect(changed).to.deep.include({ plan: planOf("commercial"), status: "active" });
    expect(await service.keys.get(apiKey)).to.deep.equal(changed);
  });

  it("are suspended and reinstated by their operator", async () => {
    const { apiKey } = await issue();
    const suspended = await service.keys.suspend(apiKey, "abuse", admin);
    expect(suspended.suspension).to.deep.equal({ cause: "operator", reason: "abuse", since: now });
    expect(await service.keys.get(apiKey)).to.deep.equal(suspended);
    const reinstated = await service.keys.reinstate(apiKey, "apologised", admin);
    expect(reinstated.status).to.equal("active");
    expect(reinstated).to.not.have.property("suspension");
    expect(await service.keys.get(apiKey)).to.deep.equal(reinstated);
  });

  it("suspended by quota are reinstated by a higher quota", async () => {
    const { apiKey } = await issue();
    const data = { cause: "quota", reason: "over quota", at: now };
    await service.append(keyStream(apiKey), "KeySuspended", data);
    expect((await service.keys.get(apiKey)).status).to.equal("suspended");
    expect((await service.keys.changePlan(apiKey, planOf("commercial"), admin)).status).to.equal("active");
  });

  it("store no event for a command that changes nothing", async () => {
    const { apiKey } = await issue();
    await service.keys.suspend(apiKey, "abuse", admin);
    const before = await service.read(keyStream(apiKey));
    await service.keys.suspend(apiKey, "abuse", admin);
    await service.keys.changePlan(apiKey, freePlan, admin);
    expect(await service.read(keyStream(apiKey))).to.deep.equal(before);
  });

  it("are listed in the order of their issuance, for all websites or one", async () => {
    const other = await service.websites.register({ name: "Blog", origins: [], plan: freePlan }, admin);
    const further = await service.keys.issue(other.id, freePlan, admin);
    const ofOther = service.keys.list(other.id).map(({ apiKey }) => apiKey);
    expect(ofOther).to.deep.equal([other.apiKey, further.apiKey]);
    expect(
      service.keys
        .list()
        .map(({ apiKey }) => apiKey)
        .slice(-2),
    ).to.deep.equal(ofOther);
    expect(service.keys.list("web_none")).to.deep.equal([]);
  });
});
