import { expect } from "chai";
import { admin, authorize, type Credentials, registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { type RunningService, startOne, temporaryFolder } from "../support/service.ts";

const env = { PUBLIC_URL: "https://tts.example" };

describe("voices of two processes with one store", () => {
  const folder = duringSuite(temporaryFolder);
  let services: readonly [RunningService, RunningService];
  let website: Credentials;

  before(async () => {
    services = [await startOne(folder.path, env), await startOne(folder.path, env)];
    website = await registerWebsite(services[0].url);
    await until(async () => (await list(services[1])).status === 200);
  });
  after(async () => {
    await Promise.all(services.map((service) => service.stop()));
  });

  const list = (service: RunningService, query = "") =>
    fetch(`${service.url}/v2/voices${query}`, { headers: authorize(website) });
  const etagOf = async (service: RunningService) => (await list(service)).headers.get("etag");

  /** Waits until the other process has read the new events; bounded by the test's timeout. */
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
  };

  it("are the same, with the same entity tag", async () => {
    const [one, other] = await Promise.all(services.map((service) => list(service)));
    expect(other?.headers.get("etag")).to.equal(one?.headers.get("etag"));
    expect(await other?.text()).to.equal(await one?.text());
  });

  it("are added on one and visible on the other", async () => {
    const voice = { name: "New here", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [10] };
    expect((await admin(services[0].url, "POST", "/voices", voice)).status).to.equal(201);
    const etag = await etagOf(services[0]);
    await until(async () => (await etagOf(services[1])) === etag);
    const found = await fetch(`${services[1].url}/v2/voices/New%20here`, { headers: authorize(website) });
    expect(found.status).to.equal(200);
  });

  it("are reported to one and visible on the other, also after a restart", async () => {
    const { body } = await admin(services[0].url, "POST", "/system-voices", { name: "Zoe", lang: "en-US" });
    const voice = { name: "Native Zoe", flag: "us", gender: "f", lang: "en-US", voiceIDs: [body.id] };
    await admin(services[0].url, "POST", "/voices", voice);
    const report = {
      platform: { browser: "Opera", browserVersion: "100", os: "Windows", osVersion: "11" },
      voices: [{ name: "Zoe", lang: "en-US", voiceURI: "Zoe", localService: true }],
      timestamp: "now",
    };
    const response = await fetch(`${services[0].url}/v2/voices/report`, {
      method: "POST",
      headers: { ...authorize(website), "Content-Type": "application/json" },
      body: JSON.stringify(report),
    });
    expect(response.status).to.equal(200);
    const isKnown = async (service: RunningService) =>
      (await (await list(service, "?browser=Opera&os=Windows")).text()).includes("Native Zoe");
    expect(await isKnown(services[0])).to.equal(true);
    await until(() => isKnown(services[1]));
    await services[1].stop();
    services = [services[0], await startOne(folder.path, env)];
    expect(await isKnown(services[1])).to.equal(true);
  });
});
