import { Writable } from "node:stream";
import { expect } from "chai";
import { pino } from "pino";
import { credentialOperations, credentialsDetails } from "../../../../src/http/routes/admin/credentials.ts";
import { admin, authorize, type Credentials, registerWebsite } from "../../../support/client.ts";
import {
  type CredentialsInstance,
  openCredentialsInstance,
  operator,
  otherKey,
  rightKey,
} from "../../../support/credentials-instance.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";
import { type OperationServer, serveOperations } from "../../../support/operation-server.ts";
import { temporaryFolder } from "../../../support/service.ts";

describe("the admin API of credentials", () => {
  let service: CredentialsInstance;
  let server: OperationServer;
  let url: string;
  let website: string;
  /** Everything that was logged or sent. */
  let output: string[];

  before(async () => {
    output = [];
    service = await openCredentialsInstance();
    website = await service.aWebsite();
    const write = (line: Buffer, _encoding: unknown, done: () => void) => {
      output.push(String(line));
      done();
    };
    const log = pino({ level: "trace" }, new Writable({ write }));
    const operations = credentialOperations.map((create) => create(service));
    server = await serveOperations(operations, { log });
    url = `${server.url}/admin/websites`;
  });
  after(async () => {
    await server.close();
    await service.close();
  });

  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      ...(body !== undefined && {
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: { "Content-Type": "application/json" },
      }),
    });
    const text = await response.text();
    output.push(text, JSON.stringify([...response.headers]));
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
  };
  const put = (body: unknown, engine = "gwn", id = website) =>
    send("PUT", `/${id}/credentials/${engine}`, body);

  it("stores credentials that the provider accepts, and returns their engine", async () => {
    const { status, body } = await put({ apiKey: rightKey });
    expect(status).to.equal(200);
    expect(credentialsDetails.parse(body)).to.deep.equal(body);
    expect(body).to.include({ engine: "gwn", provider: "google", voices: 2 });
  });

  it("lists the engines with credentials", async () => {
    await put({ apiKey: rightKey });
    const { status, body } = await send("GET", `/${website}/credentials`);
    expect(status).to.equal(200);
    expect(body.count).to.equal(1);
    expect(body.credentials.map((entry: unknown) => credentialsDetails.parse(entry))).to.deep.equal(
      body.credentials,
    );
    expect(body.credentials.map(({ engine }: { engine: string }) => engine)).to.deep.equal(["gwn"]);
  });

  it("returns 400 with the provider's message if the provider refuses them", async () => {
    const { status, body } = await put({ apiKey: "wrong-key-03fd" });
    expect(status).to.equal(400);
    expect(body.error).to.deep.include({
      code: "VALIDATION_ERROR",
      message: "The provider's voices could not be listed: API key not valid: ….",
    });
  });

  it("returns 400 for credentials of another kind, without repeating them", async () => {
    for (const wrong of [
      {},
      [],
      { subscriptionKey: rightKey, region: "westeurope" },
      { apiKey: `${rightKey} and a blank` },
      { apiKey: "" },
      { apiKey: rightKey, model: "m" },
      { serviceAccount: { client_email: rightKey, private_key: rightKey } },
      `{"apiKey": "${rightKey}"`,
      `"${rightKey}"`,
    ]) {
      const { status, body } = await put(wrong);
      expect(status, JSON.stringify(wrong)).to.equal(400);
      expect(JSON.stringify(body)).to.not.include(rightKey);
    }
  });

  it("removes them once, with 204", async () => {
    await put({ apiKey: rightKey });
    expect(await send("DELETE", `/${website}/credentials/gwn`)).to.deep.equal({
      status: 204,
      body: undefined,
    });
    expect((await send("DELETE", `/${website}/credentials/gwn`)).status).to.equal(404);
    expect((await send("GET", `/${website}/credentials`)).body).to.deep.equal({ credentials: [], count: 0 });
  });

  it("returns 404 for an unknown website, engine or provider", async () => {
    expect((await put({ apiKey: rightKey }, "gwn", "web_none")).status).to.equal(404);
    expect((await send("DELETE", "/web_none/credentials/gwn")).status).to.equal(404);
    expect((await send("GET", "/web_none/credentials")).status).to.equal(404);
    expect((await put({ apiKey: rightKey }, "g1")).status).to.equal(404);
    expect((await put({ apiKey: rightKey }, "oai")).body.error.message).to.include("oai");
  });

  it("reveals credentials in no body, header or log line", async () => {
    for (const apiKey of [rightKey, otherKey, "wrong-key-03fd", `${rightKey} `]) await put({ apiKey });
    await put(`{"apiKey": "${rightKey}"`);
    const lines = output.join("\n");
    expect(lines).to.include("/admin/websites/:id/credentials/gwn");
    for (const clear of [rightKey, otherKey, "wrong-key-03fd"]) expect(lines).to.not.include(clear);
  });
});

describe("the voices of a website's own provider", () => {
  const folder = duringSuite(temporaryFolder);
  const service = duringSuite(() => startInProcessService({ DATA_DIR: folder.path }));
  const website = duringSuite(() => registerWebsite(service.url));
  /** Another instance on the same event log, with a provider. */
  const beside = duringSuite(() => openCredentialsInstance({ folder: folder.path }));

  const voices = async (
    of: Credentials,
  ): Promise<{ name: string; isByok?: boolean; provider?: string }[]> => {
    const { text } = await ask(`${service.url}/v2/voices`, { headers: authorize(of) });
    return JSON.parse(text).voices;
  };
  const names = async (of: Credentials) => (await voices(of)).map(({ name }) => name);
  const set = () => beside.credentials.set(website.id, "gwn", { apiKey: rightKey }, operator);

  /** After its own append, this instance also shows the earlier events of the other instance. */
  const seen = async (): Promise<void> => void (await registerWebsite(service.url));

  it("are only in that website's catalog, marked as BYOK, until the credentials are removed", async () => {
    const another = await registerWebsite(service.url);
    const shared = await names(website);
    await set();
    await seen();
    expect(await names(website)).to.deep.equal([...shared, "en-US-Neural2-C", "de-DE-Neural2-B"]);
    expect((await voices(website)).at(-1)).to.include({ isByok: true, provider: "google" });
    expect(await names(another)).to.deep.equal(shared);

    const path = `/websites/${website.id}/credentials`;
    expect((await admin(service.url, "GET", path)).body).to.include({ count: 1 });
    expect((await admin(service.url, "DELETE", `${path}/gwn`)).status).to.equal(204);
    expect(await names(website)).to.deep.equal(shared);
  });

  it("change only the entity tag of that website's list", async () => {
    const tagOf = async (of: Credentials) =>
      (await ask(`${service.url}/v2/voices`, { headers: authorize(of) })).headers.etag;
    const another = await registerWebsite(service.url);
    const before = await tagOf(website);
    expect(await tagOf(another)).to.equal(before);
    await set();
    await seen();
    expect(await tagOf(website)).to.not.equal(before);
    expect(await tagOf(another)).to.equal(before);
  });
});
