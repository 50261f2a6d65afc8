import { expect } from "chai";
import { pino } from "pino";
import { admin, bytesOf, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { freePort } from "../support/free-port.ts";
import { startInProcessService } from "../support/in-process-service.ts";
import { goodCredentials, serveProviders } from "../support/wire/providers.ts";
import { serveRaw } from "../support/wire/raw-server.ts";

const request = { text: "Words that were paid for.", voice: "en-US-JennyNeural" };

describe("A website's paid audio", () => {
  const providers = duringSuite(serveProviders);
  const service = duringSuite(() => startInProcessService(providers.env));
  const payer = duringSuite(() => registerWebsite(service.url));
  const other = duringSuite(() => registerWebsite(service.url));
  const stranger = duringSuite(() => registerWebsite(service.url));

  const give = (url: string, { id }: Credentials, engine: "gwn" | "msv" | "oai", more = {}) =>
    admin(url, "PUT", `/websites/${id}/credentials/${engine}`, { ...goodCredentials[engine], ...more });
  const askAs = (website: Credentials, init: RequestInit = {}) =>
    synthesize(service.url, website, request, init);

  before(async () => {
    for (const website of [payer, other]) await give(service.url, website, "msv");
  });

  it("is synthesized separately for another website with the same provider account, with its own ETag", async () => {
    const first = await askAs(payer);
    expect(first.headers.get("SVC-Cached")).to.equal("miss");
    const sent = providers.msv.requests.length;
    const tag = first.headers.get("ETag") ?? "";
    const others = await askAs(other, { headers: { "If-None-Match": tag } });
    expect(others.status).to.equal(200);
    expect(others.headers.get("SVC-Cached")).to.equal("miss");
    expect(others.headers.get("ETag")).not.to.equal(tag);
    expect(providers.msv.requests).to.have.length(sent + 1);
    expect((await askAs(payer)).headers.get("SVC-Cached")).to.equal("memory");
  });

  it("is not accessible without credentials: no immutable address, no 304, no range, no HEAD", async () => {
    const response = await askAs(payer);
    const tag = response.headers.get("ETag") ?? "";
    expect((await bytesOf(response)).length).to.be.greaterThan(0);
    expect(response.headers.has("Content-Location")).to.equal(false);
    for (const folder of ["audio", "private", "public"]) {
      const object = `${service.url}/${folder}/${tag.replaceAll('"', "")}.mp3`;
      expect((await fetch(object)).status, folder).to.equal(404);
    }
    for (const init of [
      { method: "HEAD" },
      { headers: { "If-None-Match": tag } },
      { headers: { Range: "bytes=0-1" } },
    ]) {
      expect((await askAs(stranger, init)).status).to.equal(404);
      const address = `${service.url}/v2/text/synthesize?${new URLSearchParams(request)}`;
      expect((await fetch(address, init)).status).to.equal(401);
    }
  });

  it("is not served after its credentials were removed, cached or not", async () => {
    const tag = (await askAs(payer)).headers.get("ETag") ?? "";
    await admin(service.url, "DELETE", `/websites/${payer.id}/credentials/msv`);
    for (const headers of [{}, { "If-None-Match": tag }, { Range: "bytes=0-1" }]) {
      expect((await askAs(payer, { headers })).status).to.equal(404);
    }
    await give(service.url, payer, "msv");
    expect((await askAs(payer)).headers.get("ETag")).to.equal(tag);
  });

  it("is served to its website even when the same URL was just served with a free voice", async () => {
    const paid = { name: "Paid Jenny", service: "msv", voiceName: "en-US-JennyNeural" };
    const { body } = await admin(service.url, "POST", "/system-voices", paid);
    const free = 10;
    const mixed = { name: "Mixed", flag: "us", gender: "f", lang: "en-US", voiceIDs: [body.id, free] };
    await admin(service.url, "POST", "/voices", mixed);
    const request = async (website: Credentials) => {
      const { headers } = await synthesize(service.url, website, { text: "One address.", voice: "Mixed" });
      return { isFree: headers.has("Content-Location"), cached: headers.get("SVC-Cached") };
    };
    for (const cached of ["miss", "memory", "memory"]) {
      expect(await request(stranger)).to.deep.equal({ isFree: true, cached });
    }
    expect(await request(payer)).to.deep.equal({ isFree: false, cached: "miss" });
    expect(await request(stranger)).to.deep.equal({ isFree: true, cached: "memory" });
  });

  it("cannot come from a server on this machine, unless the operator allows it", async () => {
    const baseUrl = providers.oai.url;
    const refused = await give(service.url, payer, "oai", { baseUrl });
    expect(refused.status).to.equal(400);
    expect(JSON.stringify(refused.body)).to.match(/address is not allowed/);
    expect(providers.oai.requests).to.have.length(0);

    const allowing = await startInProcessService({ ...providers.env, ALLOW_LOOPBACK_UPSTREAMS: "true" });
    try {
      const website = await registerWebsite(allowing.url);
      expect((await give(allowing.url, website, "oai", { baseUrl })).status).to.equal(200);
    } finally {
      await allowing.close();
    }
  });

  it("does not tell a website whether a port of its server is open", async () => {
    const silent = await serveRaw(() => {});
    const closed = `http://127.0.0.1:${await freePort()}`;
    const env = { ALLOW_LOOPBACK_UPSTREAMS: "true", PROVIDER_FIRST_BYTE_MS: "1000" };
    const lines: string[] = [];
    const log = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
    const allowing = await startInProcessService({ ...providers.env, ...env }, log);
    try {
      const website = await registerWebsite(allowing.url);
      const bodies = new Set<string>();
      for (const baseUrl of [closed, silent.url, silent.url.replace("http:", "https:")]) {
        const { status, body } = await give(allowing.url, website, "oai", { baseUrl });
        expect(status).to.equal(400);
        bodies.add(JSON.stringify(body));
      }
      expect([...bodies]).to.have.length(1);
      expect([...bodies][0]).to.include("cannot be reached or does not respond");
      expect(lines.join("")).to.include("ECONNREFUSED");

      expect((await give(allowing.url, website, "oai", { baseUrl: providers.oai.url })).status).to.equal(200);
      providers.oai.faults.next({ kind: "hang" });
      const spoken = await synthesize(allowing.url, website, { text: "Is it open?", voice: "alloy" });
      expect(spoken.status).to.equal(502);
      expect(await spoken.text()).to.include("The speech provider cannot be reached or does not respond.");
    } finally {
      await allowing.close();
      await silent.close();
    }
  });

  it("is not stored under credentials that were replaced before the synthesis started", async () => {
    const impatient = await startInProcessService({ ...providers.env, PROVIDER_FIRST_BYTE_MS: "10000" });
    try {
      const website = await registerWebsite(impatient.url);
      const giveModel = (model: string) => give(impatient.url, website, "oai", { model });
      await give(impatient.url, website, "msv");
      await giveModel("tts-1");
      const ids: unknown[] = [];
      for (const [service, voiceName] of [
        ["msv", "en-US-JennyNeural"],
        ["oai", "alloy"],
      ]) {
        const voice = { name: `One by ${service}`, service, voiceName };
        ids.push((await admin(impatient.url, "POST", "/system-voices", voice)).body.id);
      }
      const voice = { name: "Either", flag: "us", gender: "f", lang: "en-US", voiceIDs: ids };
      await admin(impatient.url, "POST", "/voices", voice);

      const text = "Whose sound is this?";
      providers.msv.faults.next({ kind: "hang" });
      const sent = providers.msv.requests.length + 1;
      const waiting = synthesize(impatient.url, website, { text, voice: "Either" });
      await providers.msv.seen(sent);
      await giveModel("tts-1-hd");
      expect((await waiting).status).to.equal(502);
      await giveModel("tts-1");
      const direct = { text, lang: "en-US", engine: "oai", name: "alloy" };
      expect((await synthesize(impatient.url, website, direct)).headers.get("SVC-Cached")).to.equal("miss");
      expect(String(providers.oai.requests.at(-1)?.body)).to.include('"tts-1"');
    } finally {
      await impatient.close();
    }
  });
});
