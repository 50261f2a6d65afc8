import { expect } from "chai";
import { VoiceReportResponse } from "../../../src/http/routes/voices/schemas.ts";
import { admin, authorize, registerWebsite } from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { ask, startInProcessService } from "../../support/in-process-service.ts";
import { adminToken } from "../../support/service.ts";

const zoe = { name: "Zoe (Premium)", lang: "en-US", voiceURI: "com.apple.voice.Zoe", localService: true };
const aReport = (changes: object = {}) => ({
  platform: {
    browser: "Firefox",
    browserVersion: "130.0",
    os: "Linux",
    osVersion: "6",
    deviceType: "desktop",
  },
  voices: [zoe],
  timestamp: "2026-11-05T10:00:00.000Z",
  ...changes,
});

describe("the report of voices", () => {
  const service = duringSuite(startInProcessService);
  const website = duringSuite(() => registerWebsite(service.url));

  before(async () => {
    const { body: added } = await admin(service.url, "POST", "/system-voices", {
      name: "Zoe",
      lang: "en-US",
    });
    const { text } = await ask(`${service.url}/v2/voices`, { headers: authorize(website) });
    const seeded = JSON.parse(text).systemVoices.find(({ name }: { name: string }) => name === "Samantha");
    for (const { name, id } of [added, seeded]) {
      await admin(service.url, "POST", "/voices", {
        ...{ name: `${name} of the browser`, flag: "us", gender: "f", lang: "en-US", voiceIDs: [id] },
      });
    }
  });

  /** Not compressed, because each content coding has its own entity tag. */
  const post = async (body: unknown) => {
    const response = await fetch(`${service.url}/v2/voices/report`, {
      method: "POST",
      headers: { ...authorize(website), "Content-Type": "application/json", "Accept-Encoding": "identity" },
      body: JSON.stringify(body),
    });
    return { response, body: (await response.json()) as Record<string, unknown> };
  };
  const namesFor = async (query: string): Promise<string[]> => {
    const { text } = await ask(`${service.url}/v2/voices?${query}`, { headers: authorize(website) });
    return JSON.parse(text).voices.map(({ name }: { name: string }) => name);
  };
  const reported = async (): Promise<string[]> => {
    const response = await fetch(`${service.url}/admin/audit`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    return (await response.text()).split("\n").filter((line) => line.includes('"platform-'));
  };

  it("adds a browser's voice to later lists for that platform", async () => {
    const query = "browser=Opera&browserVersion=131&os=Linux";
    expect(await namesFor(query)).to.not.include("Zoe of the browser");
    const opera = { ...aReport().platform, browser: "Opera" };
    expect((await post(aReport({ platform: opera }))).response.status).to.equal(200);
    expect(await namesFor(query)).to.include("Zoe of the browser");
    expect(await namesFor("browser=Opera&browserVersion=129&os=Linux")).to.not.include("Zoe of the browser");
    expect(await namesFor("browser=Opera&os=Windows")).to.not.include("Zoe of the browser");
    expect(await namesFor("")).to.include("Zoe of the browser");
  });

  it("is not needed for the native voices of the seed", async () => {
    expect(await namesFor("browser=Safari&os=macOS")).to.include("Samantha of the browser");
    expect(await namesFor("browser=Chrome&os=Windows")).to.not.include("Samantha of the browser");
  });

  it("returns the entity tag of the list for that platform", async () => {
    const { response } = await post(aReport());
    const etag = response.headers.get("etag") ?? "";
    const query = new URLSearchParams(aReport().platform);
    const url = `${service.url}/v2/voices?${query}`;
    expect((await ask(url, { headers: authorize(website) })).headers.etag).to.equal(etag);
    const again = await ask(url, { headers: { ...authorize(website), "If-None-Match": etag } });
    expect(again.status).to.equal(304);
    const all = await ask(`${service.url}/v2/voices`, { headers: authorize(website) });
    expect(all.headers.etag).to.not.equal(etag);
  });

  it("returns the voices for that platform, with their own entity tag", async () => {
    const { response, body } = await post(aReport());
    expect(VoiceReportResponse.parse(body)).to.deep.equal(body);
    const names = (body.voices as { name: string }[]).map(({ name }) => name);
    expect(names).to.deep.equal(await namesFor("browser=Firefox&browserVersion=130&os=Linux&osVersion=6"));
    expect(body.count).to.equal(names.length);
    expect(response.headers.get("etag")).to.match(/^"[\w-]{43}"$/);
    expect(response.headers.get("cache-control")).to.equal("private, no-cache");
    const same = await post(aReport({ timestamp: "later", sdkVersion: "2.0.0" }));
    expect(same.response.headers.get("etag")).to.equal(response.headers.get("etag"));
    const other = await post(aReport({ platform: { ...aReport().platform, browser: "Edge" }, voices: [] }));
    expect(other.response.headers.get("etag")).to.not.equal(response.headers.get("etag"));
  });

  it("is recorded once, without anything about the reporter", async () => {
    await Promise.all(Array.from({ length: 10 }, () => post(aReport())));
    const lines = (await reported()).filter((line) => line.includes('"platform-firefox-linux"'));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.not.match(/com\.apple|127\.0\.0\.1|desktop|130\.0/);
    expect(lines[0]).to.not.contain(website.apiKey);
  });

  it("is refused with the path of every problem", async () => {
    const { platform } = aReport();
    const before = await reported();
    for (const [body, path] of [
      [{}, "platform"],
      [aReport({ platform: { ...platform, os: 11 } }), "platform.os"],
      [aReport({ platform: { ...platform, deviceType: "fridge" } }), "platform.deviceType"],
      [aReport({ voices: [{ ...zoe, localService: "yes" }] }), "voices.0.localService"],
      [aReport({ voices: Array(1_001).fill(zoe) }), "voices"],
      [aReport({ voices: [{ ...zoe, name: "x".repeat(201) }] }), "voices.0.name"],
      [aReport({ timestamp: undefined }), "timestamp"],
      [aReport({ timestamp: 5 }), "timestamp"],
      [[], ""],
      ["report", ""],
    ] as const) {
      const { response, body: received } = await post(body);
      expect(response.status, path).to.equal(400);
      const { code, errors } = received.error as { code: string; errors: { path: string[] }[] };
      expect(code).to.equal("VALIDATION_ERROR");
      expect(errors.map((one) => one.path.join("."))).to.include(path);
    }
    expect(await reported()).to.deep.equal(before);
  });

  it("is ignored if its platform or its voices are unknown", async () => {
    const before = await reported();
    const nonsense = { browser: "", browserVersion: "", os: "\u0000", osVersion: "-1" };
    for (const body of [
      aReport({ platform: nonsense }),
      aReport({ voices: [{ ...zoe, name: "", lang: "" }] }),
      aReport({ voices: [{ ...zoe, name: "../../etc/passwd" }], more: true }),
      aReport({ voices: [] }),
    ]) {
      expect((await post(body)).response.status).to.equal(200);
    }
    expect(await reported()).to.deep.equal(before);
  });
});
