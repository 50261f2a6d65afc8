import { expect } from "chai";
import { freePlan, planOf } from "../../../src/domain/accounts/plan.ts";
import { websiteStream } from "../../../src/domain/accounts/website.ts";
import { NotFound } from "../../../src/domain/errors.ts";
import { duringSuite } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { openAdminServices } from "./admin-fixture.ts";

const admin = { actor: "admin", requestId: "req-1" };
const now = "2026-03-01T12:00:00.000Z";
const origins = ["https://shop.example"];

describe("websites over a store", () => {
  const service = duringSuite(openAdminServices);

  const register = (name = "Shop") => service.websites.register({ name, origins, plan: freePlan }, admin);

  it("are registered with a key and a secret", async () => {
    const website = await service.websites.register(
      { name: "Shop", origins, plan: planOf("commercial") },
      admin,
    );
    expect(website).to.have.all.keys("id", "name", "origins", "apiKey", "apiSecret", "secretId", "plan");
    expect(website.id).to.match(/^web_[0-9A-Za-z]{22}$/);
    expect(await service.keys.get(website.apiKey)).to.deep.include({
      websiteId: website.id,
      plan: planOf("commercial"),
      secrets: [{ secretId: website.secretId, createdAt: now }],
    });
  });

  it("are shown as soon as they are registered, with the whole configuration", async () => {
    const { id } = await register();
    const shown = service.websites.get(id);
    expect(shown).to.deep.include({ id, name: "Shop", origins, storedConfig: {}, registeredAt: now });
    expect(shown.config.voice.name).to.equal("UK English Female");
    expect(shown).to.not.have.any.keys("apiSecret", "secrets");
  });

  it("are configured as a whole: the new configuration replaces the old one", async () => {
    const { id } = await register();
    await service.websites.configure(id, { voice: { pitch: 2 } }, admin);
    const changed = await service.websites.configure(id, { sdkVersion: "v2" }, admin);
    expect(changed.storedConfig).to.deep.equal({ sdkVersion: "v2" });
    expect(changed.config).to.deep.include({ sdkVersion: "v2" });
    expect(changed.config.voice.pitch).to.equal(1);
    expect(service.websites.get(id)).to.deep.equal(changed);
  });

  it("replace their origins", async () => {
    const { id } = await register();
    const changed = await service.websites.setOrigins(id, ["https://new.example"], admin);
    expect(changed.origins).to.deep.equal(["https://new.example"]);
    expect(service.websites.get(id)).to.deep.equal(changed);
  });

  it("get another name", async () => {
    const { id } = await register();
    const changed = await service.websites.rename(id, "Market", admin);
    expect(changed).to.include({ id, name: "Market" });
    expect(service.websites.get(id)).to.deep.equal(changed);
  });

  it("store no event for a command that changes nothing", async () => {
    const { id } = await register();
    await service.websites.configure(id, {}, admin);
    await service.websites.setOrigins(id, origins, admin);
    await service.websites.rename(id, "Shop", admin);
    const events = await service.read(websiteStream(id));
    expect(events.map(({ type }) => type)).to.deep.equal(["WebsiteRegistered"]);
    expect(events[0]?.metadata).to.deep.equal({ actor: "admin", correlationId: "req-1" });
  });

  it("are not found if they were never registered", async () => {
    expect(() => service.websites.get("web_none")).to.throw(NotFound);
    expect(await rejection(service.websites.configure("web_none", {}, admin))).to.be.instanceOf(NotFound);
    expect(await rejection(service.websites.rename("web_none", "a", admin))).to.be.instanceOf(NotFound);
    expect(await rejection(service.websites.setOrigins("web_none", [], admin))).to.be.instanceOf(NotFound);
    expect(await service.read(websiteStream("web_none"))).to.deep.equal([]);
  });

  it("show what no key decrypts as lost, until it is set again", async () => {
    const ciphertext = `encrypted:v1.${"A".repeat(40)}`;
    const { id } = await service.websites.register({ name: ciphertext, origins: [], plan: freePlan }, admin);
    await service.websites.setOrigins(id, [...origins, ciphertext], admin);
    const lost = ["name", "origins"];
    expect(service.websites.get(id)).to.deep.include({ name: "(lost)", origins, lost });
    const renamed = await service.websites.rename(id, "Shop", admin);
    expect(renamed).to.deep.include({ name: "Shop", origins, lost: ["origins"] });
    expect(await service.websites.setOrigins(id, origins, admin)).not.to.have.property("lost");
  });

  it("are listed in the order of their registration", async () => {
    const first = await register("First");
    const second = await register("Second");
    expect(
      service.websites
        .list()
        .map(({ id }) => id)
        .slice(-2),
    ).to.deep.equal([first.id, second.id]);
  });
});
