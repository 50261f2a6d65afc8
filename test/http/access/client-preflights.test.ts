import { expect } from "chai";
import OpenAI from "openai";
import { admin, registerWebsite } from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { ask, type ReceivedResponse, startInProcessService } from "../../support/in-process-service.ts";

const shop = "https://shop.example";

/** What a browser sends without asking first (Fetch standard, CORS-safelisted request-headers). */
const safelisted = ["accept", "accept-language", "content-language"];

describe("preflights of the clients of compatible APIs", () => {
  const service = duringSuite(startInProcessService);

  before(async () => {
    const website = await registerWebsite(service.url);
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [shop] });
  });

  const preflight = (path: string, names: readonly string[], origin = shop): Promise<ReceivedResponse> =>
    ask(service.url + path, {
      method: "OPTIONS",
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": names.join(","),
      },
    });
  const allowedBy = ({ headers }: ReceivedResponse): string[] =>
    (headers["access-control-allow-headers"] ?? "").toLowerCase().split(", ");

  it("allow every header of the published openai client", async () => {
    let sent: string[] = [];
    const client = new OpenAI({
      apiKey: "key.secret",
      baseURL: `${service.url}/openai/v1`,
      organization: "an organization",
      dangerouslyAllowBrowser: true,
      maxRetries: 0,
      fetch: async (_, init) => {
        sent = [...new Headers(init?.headers).keys()].filter((name) => !safelisted.includes(name));
        return new Response("audio");
      },
    });
    await client.audio.speech.create({ model: "tts-1", voice: "alloy", input: "Hello." });
    expect(sent).to.include.members(["authorization", "x-stainless-lang", "x-stainless-retry-count"]);
    const response = await preflight("/openai/v1/audio/speech", sent);
    expect(response.status).to.equal(204);
    expect(allowedBy(response)).to.include.members(sent);
    expect(response.headers.vary).to.include("Origin").and.to.include("Access-Control-Request-Headers");
  });

  it("allow the headers of ElevenLabs' client for browsers", async () => {
    const names = ["content-type", "x-fern-language", "x-fern-runtime", "x-fern-sdk-version", "xi-api-key"];
    const response = await preflight("/elevenlabs/v1/text-to-speech/alloy", names);
    expect(allowedBy(response)).to.include.members(names);
  });

  it("allow neither other headers, nor these at other paths or for unverified origins", async () => {
    const names = ["x-api-secret", "x-stainless-lang", "x-stainless-\tlang", "x-evil"];
    expect(allowedBy(await preflight("/openai/v1/audio/speech", names)))
      .to.include("x-stainless-lang")
      .and.not.include.members(["x-api-secret"])
      .and.not.include.members(["x-evil"]);
    const own = await preflight("/v2/text/synthesize", names);
    expect(allowedBy(own)).to.not.include("x-stainless-lang");
    expect(own.headers.vary).to.equal("Origin");
    const { headers } = await preflight("/openai/v1/audio/speech", names, "https://stranger.example");
    expect(headers).to.not.have.property("access-control-allow-headers");
  });
});
