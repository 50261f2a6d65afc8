import { expect } from "chai";
import { authorize, type Credentials, registerWebsite } from "../../support/client.ts";
import { type InProcessService, startInProcessService } from "../../support/in-process-service.ts";

describe("an instance without the natural voices of its installation", () => {
  let service: InProcessService;
  let website: Credentials;

  before(async () => {
    service = await startInProcessService({ VOICES: "natural", NATURAL_VOICES_DIR: "none" });
    website = await registerWebsite(service.url);
  });
  after(() => service.close());

  const get = (path: string, query: Record<string, string> = {}) =>
    fetch(`${service.url}${path}?${new URLSearchParams(query)}`, { headers: authorize(website) });

  for (const [what, query] of Object.entries({
    "a friendly voice": { voice: "US English Female", text: "Who speaks?" },
    "a friendly voice in SSML": { voice: "UK English Female", text: "<speak>Who speaks?</speak>" },
    "a language": { lang: "de-DE", text: "Wer spricht?" },
  })) {
    it(`speaks ${what} by a fallback, whose audio caches soon ask for again`, async () => {
      const response = await get("/v2/text/synthesize", query);
      expect(response.status).to.equal(200);
      expect(response.headers.get("Cache-Control")).to.equal("public, max-age=60");
    });
  }

  it("speaks other voices as before", async () => {
    const response = await get("/v2/text/synthesize", { voice: "Dutch Female", text: "Wie spreekt er?" });
    expect(response.headers.get("Cache-Control")).to.equal("public, max-age=86400, s-maxage=604800");
  });

  it("lists the voices of its installation", async () => {
    const { voices, systemVoices } = (await (await get("/v2/voices")).json()) as {
      voices: { name: string; voiceIDs: number[] }[];
      systemVoices: { id: number; voiceName?: string }[];
    };
    const heart = systemVoices.find(({ voiceName }) => voiceName === "hibari:heart");
    expect(heart).to.include({ service: "g1", lang: "en-US", fallbackVoice: true });
    const named = voices.filter(({ voiceIDs }) => voiceIDs.includes(heart?.id ?? 0));
    expect(named.map(({ name }) => name)).to.deep.equal(["US English Female"]);
  });

  it("is degraded, and says what is missing and how to install it", async () => {
    const response = await fetch(`${service.url}/health`);
    const { status, ...health } = (await response.json()) as { status: string };
    expect([response.status, status]).to.deep.equal([200, "degraded"]);
    expect(JSON.stringify(health)).to.match(
      /hibari:heart, pico:en-GB, .*install natural voices: scripts\/natural-voices/,
    );
  });
});
