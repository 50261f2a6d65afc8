import { expect } from "chai";
import { keyOperations } from "../../../../src/http/routes/admin/keys.ts";
import { websiteOperations } from "../../../../src/http/routes/admin/websites.ts";
import { openAdminServices } from "../../../application/accounts/admin-fixture.ts";
import { duringSuite } from "../../../support/during.ts";
import { serveOperations } from "../../../support/operation-server.ts";

describe("the admin API", () => {
  const service = duringSuite(openAdminServices);
  const server = duringSuite(() =>
    serveOperations(
      [...websiteOperations, ...keyOperations].map((create) =>
        create({ ...service, readWebsitePage: () => Promise.reject(new Error("There are no websites.")) }),
      ),
    ),
  );
  let url: string;

  before(async () => {
    url = server.url;
  });

  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { "Content-Type": "application/json" },
      }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? undefined : JSON.parse(text),
    };
  };

  const aWebsite = async () => (await ask("POST", "/admin/websites", { name: "Shop" })).body;

  const pathsOf = ({ body }: { body: { error: { errors: { path: unknown[] }[] } } }) =>
    body.error.errors.map(({ path }) => path.join("."));

  describe("of websites", () => {
    it("registers a website with 201, Location, and a secret that is not cached", async () => {
      const origins = ["https://Shop.example/"];
      const { status, headers, body } = await ask("POST", "/admin/websites", { name: "Shop", origins });
      expect(status).to.equal(201);
      expect(headers.get("location")).to.equal(`/admin/websites/${body.id}`);
      expect(headers.get("cache-control")).to.equal("no-store");
      expect(body).to.have.all.keys("id", "name", "origins", "apiKey", "apiSecret", "secretId", "plan");
      expect(body).to.deep.include({ name: "Shop", origins: ["https://shop.example"] });
      expect(body.plan.tier).to.equal("free");
    });

    it("accepts a plan as an object or as the name of its tier", async () => {
      const enterprise = { tier: "enterprise", requestsPerMinute: 5, monthlyCharacters: 10 };
      for (const [plan, tier] of [
        ["commercial", "commercial"],
        [{ tier: "free" }, "free"],
        [enterprise, "enterprise"],
      ]) {
        const { status, body } = await ask("POST", "/admin/websites", { name: "Shop", plan });
        expect([status, body.plan.tier]).to.deep.equal([201, tier]);
      }
    });

    it("lists and shows websites without secrets", async () => {
      const { id, apiSecret } = await aWebsite();
      const shown = await ask("GET", `/admin/websites/${id}`);
      expect(shown.status).to.equal(200);
      const { body } = await ask("GET", "/admin/websites");
      expect(body.count).to.equal(body.websites.length);
      expect(body.websites.at(-1)).to.deep.equal(shown.body);
      expect(JSON.stringify(body)).to.not.contain(apiSecret);
    });

    it("replaces the configuration and returns the changed website", async () => {
      const { id } = await aWebsite();
      const { status, body } = await ask("PUT", `/admin/websites/${id}/config`, { sdkVersion: "v2" });
      expect(status).to.equal(200);
      expect(body.storedConfig).to.deep.equal({ sdkVersion: "v2" });
      expect((await ask("GET", `/admin/websites/${id}`)).body).to.deep.equal(body);
    });

    it("replaces the origins and returns the changed website", async () => {
      const { id } = await aWebsite();
      const origins = ["https://a.example"];
      const { status, body } = await ask("PUT", `/admin/websites/${id}/origins`, { origins });
      expect([status, body.origins]).to.deep.equal([200, origins]);
      expect((await ask("GET", `/admin/websites/${id}`)).body).to.deep.equal(body);
    });

    it("returns 400 with the path of every problem", async () => {
      const { id } = await aWebsite();
      const wrong = { name: "", origins: ["x"], plan: "gold", more: 1 };
      const refused = await ask("POST", "/admin/websites", wrong);
      expect([refused.status, refused.body.error.code]).to.deep.equal([400, "VALIDATION_ERROR"]);
      expect(pathsOf(refused)).to.have.members(["name", "origins.0", "plan.tier", "more"]);
      const config = await ask("PUT", `/admin/websites/${id}/config`, { voice: { rate: 3 }, x: 1 });
      expect(config.status).to.equal(400);
      expect(pathsOf(config)).to.have.members(["voice.rate", "x"]);
      expect((await ask("PUT", `/admin/websites/${id}/origins`, {})).status).to.equal(400);
      expect((await ask("POST", "/admin/websites")).status).to.equal(400);
    });

    it("returns 404 for an unknown website", async () => {
      for (const [method, path, body] of [
        ["GET", "/admin/websites/web_none"],
        ["PUT", "/admin/websites/web_none/config", {}],
        ["PUT", "/admin/websites/web_none/name", { name: "a" }],
        ["PUT", "/admin/websites/web_none/origins", { origins: [] }],
        ["POST", "/admin/websites/web_none/keys", {}],
      ] as const) {
        const response = await ask(method, path, body);
        expect([response.status, response.body.error.code], path).to.deep.equal([404, "NOT_FOUND"]);
      }
    });
  });

  describe("of keys", () => {
    it("issues a key with 201, Location, and a secret that is not cached", async () => {
      const { id } = await aWebsite();
      const { status, headers, body } = await ask("POST", `/admin/websites/${id}/keys`, {
        plan: "commercial",
      });
      expect(status).to.equal(201);
      expect(headers.get("location")).to.equal(`/admin/keys/${body.apiKey}`);
      expect(headers.get("cache-control")).to.equal("no-store");
      expect(body).to.have.all.keys("apiKey", "apiSecret", "secretId", "websiteId", "plan");
    });

    it("issues a key with the free plan by default", async () => {
      const { id } = await aWebsite();
      const { status, body } = await ask("POST", `/admin/websites/${id}/keys`);
      expect([status, body.plan.tier]).to.deep.equal([201, "free"]);
    });

    it("lists and shows keys without secrets or hashes", async () => {
      const { apiKey, apiSecret } = await aWebsite();
      const { status, body } = await ask("GET", `/admin/keys/${apiKey}`);
      expect(status).to.equal(200);
      const { asOfPosition, ...usage } = body.usage;
      expect(usage).to.deep.equal({ month: "2026-03", characters: 0, quota: 1_000_000 });
      expect(asOfPosition).to.be.a("number");
      const all = (await ask("GET", "/admin/keys")).body;
      expect(all.count).to.equal(all.keys.length);
      expect(all.keys.at(-1)).to.deep.equal(body);
      expect(JSON.stringify(all)).to.not.contain(apiSecret).and.to.not.contain("hash");
    });

    it("creates secrets with 201 and revokes them with 204", async () => {
      const { apiKey, secretId } = await aWebsite();
      const created = await ask("POST", `/admin/keys/${apiKey}/secrets`);
      expect(created.status).to.equal(201);
      expect(created.headers.get("cache-control")).to.equal("no-store");
      expect(created.body).to.have.all.keys("secretId", "apiSecret");
      const path = `/admin/keys/${apiKey}/secrets/${secretId}`;
      const revoked = await ask("DELETE", path);
      expect([revoked.status, revoked.body]).to.deep.equal([204, undefined]);
      expect((await ask("DELETE", path)).status).to.equal(404);
    });

    it("returns 409 if the key has the maximum number of secrets", async () => {
      const { apiKey } = await aWebsite();
      const statuses: number[] = [];
      for (let i = 0; i < 10; i++) statuses.push((await ask("POST", `/admin/keys/${apiKey}/secrets`)).status);
      expect(statuses.slice(0, 9)).to.deep.equal(Array(9).fill(201));
      expect(statuses[9]).to.equal(409);
    });

    it("changes the plan and returns the changed key", async () => {
      const { apiKey } = await aWebsite();
      const plan = { tier: "enterprise", requestsPerMinute: 10, monthlyCharacters: 20 };
      const { status, body } = await ask("PUT", `/admin/keys/${apiKey}/plan`, plan);
      expect([status, body.plan]).to.deep.equal([200, plan]);
      expect((await ask("GET", `/admin/keys/${apiKey}`)).body).to.deep.equal(body);
      for (const wrong of [
        { tier: "gold" },
        { tier: "enterprise" },
        { tier: "free", requestsPerMinute: 5 },
        {},
      ]) {
        expect((await ask("PUT", `/admin/keys/${apiKey}/plan`, wrong)).status).to.equal(400);
      }
    });

    it("suspends with a reason, reinstates, and returns the changed key", async () => {
      const { apiKey } = await aWebsite();
      expect((await ask("POST", `/admin/keys/${apiKey}/suspend`, {})).status).to.equal(400);
      const suspended = await ask("POST", `/admin/keys/${apiKey}/suspend`, { reason: "abuse" });
      expect([suspended.status, suspended.body.suspension.reason]).to.deep.equal([200, "abuse"]);
      const reinstated = await ask("POST", `/admin/keys/${apiKey}/reinstate`);
      expect([reinstated.status, reinstated.body.status]).to.deep.equal([200, "active"]);
    });

    it("returns 404 for an unknown key", async () => {
      for (const [method, path, body] of [
        ["GET", "/admin/keys/vlk_none"],
        ["POST", "/admin/keys/vlk_none/secrets"],
        ["DELETE", "/admin/keys/vlk_none/secrets/sec_1"],
        ["PUT", "/admin/keys/vlk_none/plan", { tier: "free" }],
        ["POST", "/admin/keys/vlk_none/suspend", { reason: "x" }],
        ["POST", "/admin/keys/vlk_none/reinstate"],
      ] as const) {
        expect((await ask(method, path, body)).status, path).to.equal(404);
      }
    });

    it("records the request id of the command in the event log", async () => {
      const { id } = await aWebsite();
      const { headers, body } = await ask("POST", `/admin/websites/${id}/keys`);
      const events = await service.read(`key-${body.apiKey}`);
      expect(events.map(({ metadata }) => metadata)).to.deep.equal(
        Array(2).fill({ actor: "admin", correlationId: headers.get("x-request-id") }),
      );
    });
  });
});
