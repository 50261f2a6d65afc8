import { expect } from "chai";
import { admin, authorize, bytesOf, registerWebsite } from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { ask, startInProcessService } from "../../support/in-process-service.ts";

const odd = `"Zoë" 100% ?#&+ ж`;

describe("the links of voices", () => {
  const service = duringSuite(() => startInProcessService({ TRUST_PROXY: "127.0.0.2/32" }));
  const website = duringSuite(() => registerWebsite(service.url));

  before(async () => {
    await admin(service.url, "POST", "/voices", {
      ...{ name: odd, flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [10] },
    });
  });

  const follow = async (href: string) => {
    const { status, text } = await ask(href, { headers: authorize(website) });
    expect(status, href).to.equal(200);
    return JSON.parse(text);
  };
  const linksUnder = async (url: string, headers: Record<string, string> = {}) =>
    JSON.parse(
      (await ask(`${url}/v2/voices/UK%20English%20Male`, { headers: { ...authorize(website), ...headers } }))
        .text,
    )._links;

  it("lead to the voice, its language and the whole collection", async () => {
    const { voices, _links } = await follow(`${service.url}/v2/voices`);
    expect(_links.self.href).to.equal(`${service.url}/v2/voices`);
    for (const name of ["UK English Female", odd]) {
      const listed = voices.find((one: { name: string }) => one.name === name);
      const detail = await follow(listed._links.self.href);
      expect(detail.voice.name).to.equal(name);
      expect(detail._links).to.deep.include(listed._links);
      const language = await follow(detail._links.byLanguage.href);
      expect(language.voices).to.deep.include(listed);
      expect(await follow(language._links.self.href)).to.deep.equal(language);
      expect(await follow(language._links.allVoices.href)).to.deep.include({ count: voices.length });
      expect(await follow(detail._links.collection.href)).to.deep.include({ count: voices.length });
    }
  });

  it("link to the same response, with its query", async () => {
    const query = "browser=Safari&browserVersion=17&os=macOS&osVersion=14";
    const response = await follow(`${service.url}/v2/voices?${query}&more=1`);
    expect(response._links.self.href).to.equal(`${service.url}/v2/voices?${query}`);
    expect(await follow(response._links.self.href)).to.deep.equal(response);
  });

  it("lead to synthesis, with the body in the link and a text", async () => {
    const { _links } = await follow(`${service.url}/v2/voices/${encodeURIComponent(odd)}`);
    const { href, method, body } = _links.synthesize;
    const response = await fetch(href, {
      method,
      headers: { ...authorize(website), "Content-Type": "application/json" },
      body: JSON.stringify({ ...body, text: "Hello." }),
    });
    expect([response.status, response.headers.get("content-type")]).to.deep.equal([200, "audio/mpeg"]);
    expect((await bytesOf(response)).length).to.be.above(1_000);
  });

  it("mark streaming as premium only for BYOK voices", async () => {
    await admin(service.url, "POST", "/voices", {
      ...{ name: "en-US-Neural2-C", flag: "us", gender: "f", lang: "en-US", voiceIDs: [20] },
      ...{ isByok: true, provider: "google" },
    });
    for (const [name, premium] of [
      ["UK English Female", false],
      ["en-US-Neural2-C", true],
    ]) {
      const { voice, _links } = await follow(`${service.url}/v2/voices/${encodeURIComponent(String(name))}`);
      const { lang } = voice;
      expect(_links["synthesize:stream"]).to.deep.equal({
        href: `${service.url}/v2/text/synthesize`,
        method: "POST",
        body: { voice: name, lang, stream: true },
        accept: "text/event-stream",
        premium,
      });
      expect(_links["stream:websocket"]).to.deep.equal({
        href: `${service.url.replace("http:", "ws:")}/v2/text/stream`,
        protocol: "websocket",
        message: { type: "synthesize", voice: name, lang },
        premium,
      });
    }
  });

  it("are under the host of the request", async () => {
    const { self } = await linksUnder(service.url, { Host: "voices.example:8443" });
    expect(self.href).to.equal("http://voices.example:8443/v2/voices/UK%20English%20Male");
  });

  it("are refused for a malformed host", async () => {
    for (const host of ["a/b", "a b", 'x"y', "user@host", "a:port", "a:99999"]) {
      const { status, text } = await ask(`${service.url}/v2/voices`, {
        headers: { ...authorize(website), Host: host },
      });
      expect([status, JSON.parse(text).error.errors[0].path], host).to.deep.equal([400, ["Host"]]);
    }
  });

  it("ignore forwarded headers from an untrusted peer", async () => {
    const claims = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example" };
    expect((await linksUnder(service.url, claims)).self.href).to.contain(service.url);
  });
});

describe("the links of voices behind a proxy", () => {
  it("are under the scheme and host that the proxy reports, WebSocket links too", async () => {
    const service = await startInProcessService({ TRUST_PROXY: "127.0.0.1" });
    const website = await registerWebsite(service.url);
    const linksFor = async (headers: Record<string, string>) => {
      const { text } = await ask(`${service.url}/v2/voices/UK%20English%20Male`, {
        headers: { ...authorize(website), ...headers },
      });
      return JSON.parse(text)._links;
    };
    const forwarded = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example, tts.example" };
    const links = await linksFor(forwarded);
    expect(links.collection.href).to.equal("https://tts.example/v2/voices");
    expect(links["stream:websocket"].href).to.equal("wss://tts.example/v2/text/stream");
    const otherScheme = await linksFor({ "X-Forwarded-Proto": "javascript" });
    expect(otherScheme.collection.href).to.equal(`${service.url}/v2/voices`);
    await service.close();
  });
});

describe("the links of voices with PUBLIC_URL", () => {
  it("are under PUBLIC_URL for every request", async () => {
    const service = await startInProcessService({
      PUBLIC_URL: "https://tts.example/voice/",
      TRUST_PROXY: "127.0.0.1",
    });
    const website = await registerWebsite(service.url);
    const { text } = await ask(`${service.url}/v2/voices/UK%20English%20Male`, {
      headers: { ...authorize(website), Host: "x.example", "X-Forwarded-Host": "y.example" },
    });
    const { _links } = JSON.parse(text);
    await service.close();
    expect(_links.self.href).to.equal("https://tts.example/voice/v2/voices/UK%20English%20Male");
    expect(_links["stream:websocket"].href).to.equal("wss://tts.example/voice/v2/text/stream");
  });
});
