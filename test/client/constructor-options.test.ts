import { expect } from "chai";
import { resolveConfiguration } from "../../src/client/constructor-options.ts";

const inPage = { scriptUrl: "https://tts.example/client.js", inPage: true };
const inNode = { scriptUrl: "file:///project/node_modules/client.js", inPage: false };

describe("the options of the client library", () => {
  it("requires only an API key in a page, and uses the script's location as base URL", () => {
    expect(resolveConfiguration({ apiKey: "k" }, inPage)).to.deep.equal({
      apiKey: "k",
      apiSecret: undefined,
      baseUrl: "https://tts.example/",
      debug: false,
      defaultLang: undefined,
      defaultVoice: undefined,
      fallback: "native",
      labels: {},
      preferNative: false,
      retryAttempts: 3,
      timeout: 30_000,
      transport: "chunks",
    });
  });

  it("accepts a base URL with or without a path and a trailing slash", () => {
    const base = (baseUrl: string) => resolveConfiguration({ apiKey: "k", baseUrl }, inNode).baseUrl;
    expect(base("https://tts.example")).to.equal("https://tts.example/");
    expect(base("https://example.com/speech")).to.equal("https://example.com/speech/");
    expect(base("https://example.com/speech/")).to.equal("https://example.com/speech/");
    expect(
      resolveConfiguration(
        { apiKey: "k" },
        { ...inPage, scriptUrl: "https://example.com/speech/client.js?v=2" },
      ).baseUrl,
    ).to.equal("https://example.com/speech/");
  });

  it("rejects a secret in a page", () => {
    expect(() => resolveConfiguration({ apiKey: "k", apiSecret: "s" }, inPage)).to.throw(
      TypeError,
      "apiSecret must not be in a page",
    );
    expect(
      resolveConfiguration({ apiKey: "k", apiSecret: "s", baseUrl: "http://127.0.0.1" }, inNode),
    ).to.include({
      apiSecret: "s",
    });
  });

  for (const [name, given] of Object.entries({
    apiKey: { apiKey: "" },
    baseUrl: { baseUrl: "ftp://example.com" },
    retryAttempts: { retryAttempts: 1.5 },
    timeout: { timeout: 2 ** 31 },
    transport: { transport: "pigeon" as "chunks" },
  })) {
    it(`rejects an invalid ${name}`, () => {
      expect(() => resolveConfiguration({ apiKey: "k", ...given }, inPage)).to.throw(TypeError, name);
    });
  }

  it("requires a base URL if the script is a file", () => {
    expect(() => resolveConfiguration({ apiKey: "k" }, inNode)).to.throw(TypeError, "baseUrl");
  });
});
