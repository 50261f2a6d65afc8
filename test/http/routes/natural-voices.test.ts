import { expect } from "chai";
import {
  naturalVoicesFolder,
  openNaturalVoices,
} from "../../../src/engines/natural-voices/natural-voices.ts";
import { admin, authorize, type Credentials, fetchWhenFree, registerWebsite } from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { type InProcessService, startInProcessService } from "../../support/in-process-service.ts";

describe("an instance without the natural voices of its installation", () => {
  const service = duringSuite(() => startInProcessService({ VOICES: "natural", NATURAL_VOICES_DIR: "none" }));
  const website = duringSuite(() => registerWebsite(service.url));

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

  it("keeps a voice's natural voices when an operator saves the voice as it is shown", async () => {
    const path = `/voices/${encodeURIComponent("US English Female")}`;
    const { body: before } = await admin(service.url, "GET", path);
    const save = (change: object) => admin(service.url, "PATCH", path, change);
    const choose = (choice: string) => admin(service.url, "PUT", "/voice-choice", { choice });
    expect((await save({ flag: "gb", voiceIDs: before.voiceIDs })).status).to.equal(200);
    expect((await choose("classic")).status).to.equal(200);
    expect((await save({ flag: "us" })).status).to.equal(200);
    expect((await admin(service.url, "GET", path)).body.voiceIDs).to.not.deep.equal(before.voiceIDs);
    expect((await choose("natural")).status).to.equal(200);
    expect((await admin(service.url, "GET", path)).body.voiceIDs).to.deep.equal(before.voiceIDs);
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

describe("a service with natural voices", () => {
  let service: InProcessService;
  let website: Credentials;

  before(async function () {
    const { installed } = await openNaturalVoices(naturalVoicesFolder(undefined));
    // `scripts/natural-voices` installs them.
    if (!installed.has("hibari:heart")) return this.skip();
    service = await startInProcessService({ VOICES: "natural" });
    website = await registerWebsite(service.url);
  });
  after(() => service?.close());

  const get = (query: Record<string, string>) => {
    const all = { voice: "US English Female", text: "Each ship.", ...query };
    return fetchWhenFree(`${service.url}/v2/text/synthesize?${new URLSearchParams(all)}`, {
      headers: authorize(website),
    });
  };

  it("tells the caller the phonemes and visemes of each word, in order and within the audio", async () => {
    const response = await get({ marks: "phoneme" });
    expect(response.status, response.ok ? "" : await response.text()).to.equal(200);
    const marks = (await response.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { time: number; type: string; start: number; value: string });
    const of = (type: string) => marks.filter((mark) => mark.type === type);
    expect(of("word").map(({ value }) => value)).to.deep.equal(["Each", "ship"]);
    const spoken = of("phoneme").filter(({ value }) => /\p{L}/u.test(value) && !/[ˈˌː]/u.test(value));
    expect(spoken.map(({ start, value }) => [start, value])).to.deep.equal([
      ...[0, 0].map((start, at) => [start, "iʧ"[at]]),
      ...[5, 5, 5].map((start, at) => [start, "ʃɪp"[at]]),
    ]);
    expect(of("viseme").map(({ value }) => value)).to.include.members([6, 16, 21]);
    const times = marks.map(({ time }) => time);
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
    const seconds = Number((await get({})).headers.get("X-Audio-Duration"));
    expect(times.at(-1)).to.be.below(seconds * 1000);
  });
});
