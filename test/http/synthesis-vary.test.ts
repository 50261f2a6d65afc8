import { expect } from "chai";
import { admin, authorize, type Credentials, registerWebsite } from "../support/client.ts";
import { ask, type ServedHere, serveHere } from "../support/served-here.ts";
import { goodCredentials, serveProviders, type WireProviders } from "../support/wire/providers.ts";

/** Whatever a caller can be known by. */
const callers = ["Authorization", "Origin", "Referer", "X-API-Key", "X-API-Secret"];

describe("what caches are told that a synthesis depends on", () => {
  let providers: WireProviders;
  let service: ServedHere;
  let owner: Credentials;
  let other: Credentials;

  before(async () => {
    providers = await serveProviders();
    service = await serveHere(providers.env);
    [owner, other] = [await registerWebsite(service.url), await registerWebsite(service.url)];
    await admin(service.url, "PUT", `/websites/${owner.id}/credentials/oai`, goodCredentials.oai);
    const paid = { name: "Paid", service: "oai", voiceName: "alloy" };
    const { body } = await admin(service.url, "POST", "/system-voices", paid);
    const mixed = { name: "Mixed", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [body.id, 10] };
    await admin(service.url, "POST", "/voices", mixed);
  });
  after(async () => {
    await service.close();
    await providers.close();
  });

  const varies = async (
    website: Credentials,
    query: Record<string, string>,
    { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
  ) => {
    const address = `${service.url}/v2/text/synthesize?${new URLSearchParams({ text: "Who may hear it?", ...query })}`;
    const told = await ask(address, { method, headers: { ...authorize(website), ...headers } });
    const names = (told.headers.vary ?? "").split(/, */).sort();
    return { status: told.status, names, etag: told.headers.etag ?? "" };
  };

  it("is the page's origin alone, for a free engine's sound, from memory as well", async () => {
    for (const _ of ["made", "from memory"]) {
      expect(await varies(owner, { voice: "UK English Female" })).to.deep.include({
        status: 200,
        names: ["Origin"],
      });
    }
  });

  it("is all that a caller is known by, for what a website's own provider speaks", async () => {
    const query = { voice: "alloy" };
    const { etag, ...whole } = await varies(owner, query);
    expect(whole).to.deep.equal({ status: 200, names: callers });
    for (const [asked, status] of [
      [{ method: "HEAD" }, 200],
      [{ headers: { Range: "bytes=0-1" } }, 206],
      [{ headers: { "If-None-Match": etag } }, 304],
    ] as const) {
      expect(await varies(owner, query, asked)).to.deep.include({ status, names: callers });
    }
  });

  it("is the same for silence in such a voice", async () => {
    expect(await varies(owner, { voice: "alloy", volume: "0" })).to.deep.include({
      status: 204,
      names: callers,
    });
  });

  it("is the same for a free sound that another website would have heard its own provider instead of", async () => {
    expect(await varies(other, { voice: "Mixed" })).to.deep.include({ status: 200, names: callers });
  });
});
