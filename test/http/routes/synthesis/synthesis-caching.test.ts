import { expect } from "chai";
import { admin, authorize, type Credentials, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, type ReceivedResponse, startInProcessService } from "../../../support/in-process-service.ts";
import { goodCredentials, serveProviders } from "../../../support/wire/providers.ts";

const shop = "https://shop.example";

describe("caching of a synthesis", () => {
  const providers = duringSuite(serveProviders);
  const service = duringSuite(() => startInProcessService(providers.env));
  let owner: Credentials;
  let other: Credentials;

  before(async () => {
    [owner, other] = [await registerWebsite(service.url), await registerWebsite(service.url)];
    await admin(service.url, "PUT", `/websites/${owner.id}/credentials/oai`, goodCredentials.oai);
    await admin(service.url, "PUT", `/websites/${owner.id}/origins`, { origins: [shop] });
    const paid = { name: "Paid", service: "oai", voiceName: "alloy" };
    const { body } = await admin(service.url, "POST", "/system-voices", paid);
    const mixed = { name: "Mixed", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [body.id, 10] };
    await admin(service.url, "POST", "/voices", mixed);
  });

  const get = async (
    website: Credentials,
    query: Record<string, string>,
    { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
  ) => {
    const address = `${service.url}/v2/text/synthesize?${new URLSearchParams({ text: "Who may hear it?", ...query })}`;
    return await ask(address, { method, headers: { ...authorize(website), Origin: shop, ...headers } });
  };
  const post = (website: Credentials, body: object) =>
    ask(`${service.url}/v2/text/synthesize`, {
      method: "POST",
      headers: { ...authorize(website), Origin: shop, "Content-Type": "application/json" },
      body: JSON.stringify({ text: "Who may hear it?", ...body }),
    });
  const isPublic = ({ headers }: ReceivedResponse, status: string, lifetime: string) => {
    expect(headers, status).to.include({ "cache-control": lifetime, "access-control-allow-origin": "*" });
    expect(headers["access-control-expose-headers"], status).to.include("SVC-Cached");
    expect(headers, status).to.not.have.property("vary");
  };
  const isPrivate = ({ headers }: ReceivedResponse, status: string, lifetime = "private, max-age=86400") => {
    expect(headers, status).to.include({ "cache-control": lifetime, vary: "Origin" });
    expect(headers["access-control-allow-origin"], status).to.equal(shop);
  };

  it("is public and the same for every origin with a free engine", async () => {
    const query = { voice: "UK English Female" };
    const week = "public, max-age=86400, s-maxage=604800";
    const first = await get(owner, query);
    isPublic(first, "made", week);
    for (const [status, options] of Object.entries({
      "from memory": {},
      "without an origin": { headers: { Origin: "" } },
      "from another origin": { headers: { Origin: "https://stranger.example" } },
      HEAD: { method: "HEAD" },
      206: { headers: { Range: "bytes=0-1" } },
      304: { headers: { "If-None-Match": first.headers.etag ?? "" } },
    })) {
      isPublic(await get(owner, query, options), status, week);
    }
    isPublic(await get(owner, { ...query, volume: "0" }), "204", week);
    isPublic(await post(owner, query), "POST", "public, max-age=86400");
    isPublic(await post(owner, { ...query, volume: 0 }), "204 to POST", "public, max-age=86400");
  });

  it("is private with a BYOK engine", async () => {
    const query = { voice: "alloy" };
    const first = await get(owner, query);
    isPrivate(first, "made");
    for (const [status, options] of Object.entries({
      "from memory": {},
      HEAD: { method: "HEAD" },
      206: { headers: { Range: "bytes=0-1" } },
      304: { headers: { "If-None-Match": first.headers.etag ?? "" } },
    })) {
      isPrivate(await get(owner, query, options), status);
    }
    isPrivate(await get(owner, { ...query, volume: "0" }), "204");
    isPrivate(await post(owner, query), "POST");
  });

  it("is private for a free voice that another website's BYOK voice would replace", async () => {
    isPrivate(await get(other, { voice: "Mixed" }), "200");
  });

  it("lasts a minute for a fallback voice, and is public only if it is the same for every website", async () => {
    providers.oai.faults.always({ kind: "refusal", status: 400 });
    try {
      const response = await get(owner, { voice: "Mixed", text: "Spoken by the fallback." });
      expect(response.headers["content-location"]).to.match(/^\/audio\//);
      isPrivate(response, "200", "private, max-age=60");
    } finally {
      providers.oai.faults.none();
    }
    const mute = { name: "Mute", lang: "en-GB", service: "g1", voiceName: "espeak:no-such-voice" };
    const { body } = await admin(service.url, "POST", "/system-voices", mute);
    const fallible = { name: "Fallible", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [body.id, 10] };
    await admin(service.url, "POST", "/voices", fallible);
    isPublic(await get(owner, { voice: "Fallible" }), "200", "public, max-age=60");
  });

  it("stores no errors, and lets only verified origins read them", async () => {
    for (const origin of [shop, "https://stranger.example"]) {
      const { status, headers } = await get(owner, { voice: "Nobody" }, { headers: { Origin: origin } });
      expect([status, headers["cache-control"], headers.vary]).to.deep.equal([404, "no-store", "Origin"]);
      expect(headers["access-control-allow-origin"]).to.equal(origin === shop ? shop : undefined);
    }
  });

  it("returns 304 for If-None-Match: * only if the audio exists", async () => {
    const query = { voice: "UK English Female", text: "Not made yet." };
    const anything = { headers: { "If-None-Match": "*" } };
    expect((await get(owner, query, { method: "HEAD", ...anything })).status).to.equal(200);
    const made = await get(owner, query, anything);
    expect([made.status, made.headers["svc-cached"]]).to.deep.equal([200, "miss"]);
    for (const method of ["GET", "HEAD"]) {
      const again = await get(owner, query, { method, ...anything });
      expect([again.status, again.text]).to.deep.equal([304, ""]);
      for (const name of ["etag", "cache-control", "content-location", "vary"]) {
        expect(again.headers[name], name).to.equal(made.headers[name]);
      }
    }
  });
});

describe("Content-Location", () => {
  it("is under the path of PUBLIC_URL", async () => {
    const service = await startInProcessService({ PUBLIC_URL: "https://example.com/speech/" });
    try {
      const website = await registerWebsite(service.url);
      const address = `${service.url}/v2/text/synthesize?lang=en-GB&text=Hello.`;
      const { headers } = await ask(address, { headers: authorize(website) });
      const [, object] =
        /^\/speech(\/audio\/[0-9a-f]{64}\.mp3)$/.exec(headers["content-location"] ?? "") ?? [];
      expect((await ask(service.url + object)).status).to.equal(200);
    } finally {
      await service.close();
    }
  });
});
