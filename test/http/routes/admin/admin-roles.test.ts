import { expect } from "chai";
import packageJson from "../../../../package.json" with { type: "json" };
import { limits } from "../../../../src/limits/limits.ts";
import { operationsOf } from "../../../contracts/http.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, type ReceivedResponse, startInProcessService } from "../../../support/in-process-service.ts";

const alice = "alice-token-0123456789";
const nextOfAlice = "alice-next-token-0123456789";
const bob = "bob-token-0123456789=="; // with the padding of base64
const auditor = "auditor-token-0123456789";
const carol = "carol-token-0123456789";

describe("the roles of the admin API", () => {
  const service = duringSuite(() =>
    startInProcessService({
      ADMIN_TOKEN: `alice=${alice},Bob-2=${bob},alice=${nextOfAlice}`,
      AUDITOR_TOKEN: `${auditor},carol=${carol}`,
      TRUST_PROXY: "127.0.0.1",
    }),
  );

  beforeEach(() => {
    service.time.now += 60_000; // failed attempts are limited per minute
  });

  const call = (method: string, path: string, token?: string, body?: object): Promise<ReceivedResponse> =>
    ask(service.url + path, {
      method,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body && { "Content-Type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });

  const errorOf = ({ status, text }: ReceivedResponse) => [status, JSON.parse(text).error.code];
  const linesOf = ({ text }: ReceivedResponse) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  const registerBy = async (token: string): Promise<{ id: string; apiKey: string }> => {
    const response = await call("POST", "/admin/websites", token, { name: "Shop" });
    expect(response.status).to.equal(201);
    return JSON.parse(response.text);
  };

  it("names the operator who acted in the metadata of the events", async () => {
    const websites = [await registerBy(alice), await registerBy(bob)];
    const entries = linesOf(await call("GET", "/admin/audit", alice));
    const actors = websites.map(
      ({ id }) => entries.find(({ stream }) => stream === `website-${id}`).metadata.actor,
    );
    expect(actors).to.deep.equal(["admin:alice", "admin:Bob-2"]);
  });

  it("allows auditors to read the audit and usage reports", async () => {
    const { apiKey } = await registerBy(alice);
    for (const token of [auditor, carol, alice]) {
      expect((await call("GET", "/admin/audit", token)).status).to.equal(200);
      const report = await call("GET", `/admin/keys/${apiKey}/usage`, token);
      expect(JSON.parse(report.text)).to.include({ apiKey, requests: 0 });
    }
  });

  const adminOperations = async () => {
    const document = JSON.parse((await call("GET", "/openapi.json")).text);
    return operationsOf(document).filter(({ path }) => path.startsWith("/admin/"));
  };
  const placeOf = (path: string): string => path.replaceAll(/\{\w+\}/g, "x");

  it("allows auditors every operation that only reads", async () => {
    const reading = (await adminOperations()).filter(({ method }) => method === "GET");
    expect(reading.length).to.be.above(10);
    for (const { method, path } of reading) {
      const { status } = await call(method, placeOf(path), carol);
      expect(status, path).to.be.oneOf([200, 400, 404]);
    }
  });

  it("refuses auditors every operation that changes something with 403, before its body is read", async () => {
    const changing = (await adminOperations()).filter(({ method }) => method !== "GET");
    expect(changing.length).to.be.above(20);
    const actions = async () =>
      linesOf(await call("GET", "/admin/audit", alice)).filter(({ metadata }) => metadata.actor !== "system");
    const before = await actions();
    for (const { method, path } of changing) {
      const response = await call(method, placeOf(path), carol);
      expect(errorOf(response), `${method} ${path}`).to.deep.equal([403, "FORBIDDEN"]);
      expect(response.headers["cache-control"]).to.equal("no-store");
    }
    expect(await actions()).to.deep.equal(before);
  });

  it("shows the role and the name of each token", async () => {
    const sessionOf = async (token: string) => JSON.parse((await call("GET", "/admin/session", token)).text);
    expect(await sessionOf(alice)).to.deep.equal({ role: "operator", name: "alice" });
    expect(await sessionOf(nextOfAlice)).to.deep.equal({ role: "operator", name: "alice" });
    expect(await sessionOf(auditor)).to.deep.equal({ role: "auditor" });
    expect(await sessionOf(carol)).to.deep.equal({ role: "auditor", name: "carol" });
  });

  it("refuses unknown and missing tokens with 401, for operators' and auditors' operations", async () => {
    for (const path of ["/admin/audit", "/admin/keys"]) {
      for (const token of [
        undefined,
        "unknown-token-0123456789",
        `alice=${alice}`,
        "alice",
        `${alice}x`,
        bob.slice(0, -1),
      ]) {
        expect(errorOf(await call("GET", path, token)), `${path} ${token}`).to.deep.equal([
          401,
          "UNAUTHORIZED",
        ]);
      }
    }
  });

  it("responds to guesses with 429 after too many from one address, and never refuses a known token", async () => {
    const from = async (address: string, token: string) => {
      const headers = { Authorization: `Bearer ${token}`, "X-Forwarded-For": address };
      return (await ask(`${service.url}/admin/voices/x`, { method: "DELETE", headers })).status;
    };
    const guess = () => from("198.51.100.2", "unknown-token-0123456789");
    for (let i = 0; i < limits.failures.atMost; i++) {
      expect(await from("198.51.100.2", carol)).to.equal(403); // not a guess
      expect(await guess()).to.equal(401);
    }
    expect(await guess()).to.equal(429);
    expect(await from("198.51.100.2", alice)).to.equal(404);
    expect(await from("198.51.100.2", carol)).to.equal(403);
    expect(await from("198.51.100.3", "unknown-token-0123456789")).to.equal(401);
  });

  it("shows the version in /health to operators and auditors only, and ignores unknown tokens there up to a limit", async () => {
    const versionFor = async (headers: Record<string, string>) => {
      const { status, text } = await ask(`${service.url}/health`, { headers });
      expect(status).to.equal(200);
      return JSON.parse(text).version;
    };
    const { version } = packageJson;
    for (const token of [alice, bob, auditor, carol])
      expect(await versionFor({ Authorization: `Bearer ${token}` })).to.equal(version);
    const { apiKey, apiSecret } = JSON.parse(
      (await call("POST", "/admin/websites", alice, { name: "Shop" })).text,
    );
    const others = [{}, { "X-API-Key": apiKey, "X-API-Secret": apiSecret }, { Authorization: "Basic YTpi" }];
    for (const headers of others)
      expect(await versionFor(headers as Record<string, string>)).to.equal(undefined);
    const guess = { Authorization: "Bearer unknown-token-0123456789" };
    for (let i = 0; i < limits.failures.atMost; i++) expect(await versionFor(guess)).to.equal(undefined);
    const refused = await ask(`${service.url}/health`, { headers: guess });
    expect(refused).to.deep.include({ status: 429 });
    expect((await call("GET", "/admin/keys", guess.Authorization.slice(7))).status).to.equal(429);
    expect(await versionFor({ Authorization: `Bearer ${bob}` })).to.equal(version);
    expect(await versionFor({})).to.equal(undefined);
    for (const path of ["/health/ready", "/health/live"])
      expect((await call("GET", path, alice)).text).not.to.include(version);
  });

  it("serves auditors without any operator's token", async () => {
    const { url, close } = await startInProcessService({ ADMIN_TOKEN: "", AUDITOR_TOKEN: auditor });
    const statusOf = async (method: string, path: string, token: string) =>
      (await ask(url + path, { method, headers: { Authorization: `Bearer ${token}` } })).status;
    expect(await statusOf("GET", "/admin/audit", auditor)).to.equal(200);
    expect(await statusOf("POST", "/admin/websites", auditor)).to.equal(403);
    expect(await statusOf("GET", "/admin/keys", alice)).to.equal(401);
    await close();
  });
});
