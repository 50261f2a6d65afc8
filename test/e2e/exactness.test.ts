import { expect } from "chai";
import { admin, bytesOf, type Credentials, errorOf, registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import {
  instances,
  type RunningService,
  startOne,
  startService,
  temporaryFolder,
} from "../support/service.ts";

const voice = "UK English Female";
const statuses = (responses: readonly Response[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe("exactness under concurrency", () => {
  const folder = duringSuite(temporaryFolder);
  /** The service of the tests that need no other one. */
  let service: RunningService;
  const others: RunningService[] = [];
  /** Starts another service over the same stores, which ends with the test. */
  const start = async (env: Record<string, string> = {}): Promise<RunningService> => {
    const other = await startService(folder.path, env);
    others.push(other);
    return other;
  };
  const quota = (characters: number) => ({ monthlyCharacters: characters });

  before(async () => {
    service = await startService(folder.path);
  });
  afterEach(() => Promise.all(others.splice(0).map((other) => other.stop())));
  after(async () => {
    await service.stop();
  });

  it("runs one synthesis per instance for 60 identical concurrent requests, with the same bytes for all", async () => {
    const website = await registerWebsite(service.url);
    const query = { voice, text: "All sixty of us want this sentence." };
    const responses = await Promise.all(
      Array.from({ length: 60 }, () => synthesize(service.url, website, query)),
    );
    expect(statuses(responses)).to.deep.equal({ 200: 60 });
    const cached = responses.map(({ headers }) => headers.get("svc-cached"));
    expect(cached.filter((one) => one === "miss").length).to.be.within(1, instances);
    const elsewhere = instances > 1 ? ["store"] : [];
    expect(cached).to.satisfy(isAllOf("miss", "coalesced", "memory", ...elsewhere));
    const sounds = await Promise.all(responses.map(bytesOf));
    expect(sounds.every((sound) => sound.equals(sounds[0] as Buffer))).to.equal(true);
  });

  it("gives the same bytes after a restart, from the store", async () => {
    const website = await registerWebsite(service.url);
    const query = { voice, text: "I shall be the same tomorrow." };
    const before = await bytesOf(await synthesize(service.url, website, query));
    expect(await service.stop()).to.equal(0);
    service = await startService(folder.path);
    const response = await synthesize(service.url, website, query);
    expect(response.headers.get("svc-cached")).to.equal("store");
    expect((await bytesOf(response)).equals(before)).to.equal(true);
  });

  it("serves exactly 9 of 30 requests of 10 characters at once on a quota of 95, and suspends the key", async () => {
    const website = await registerWebsite(service.url, quota(95));
    const responses = await Promise.all(
      Array.from({ length: 30 }, () => synthesize(service.url, website, { voice, text: "ten chars!" })),
    );
    expect(statuses(responses)).to.deep.equal({ 200: 9, 403: 21 });
    const refused = await synthesize(service.url, website, { voice, text: "x" });
    expect(await errorOf(refused)).to.include({ statusCode: 403, code: "KEY_SUSPENDED" });
    const { body } = await admin(service.url, "GET", `/keys/${website.apiKey}`);
    expect(body).to.deep.include({ status: "suspended" });
    expect(body.usage).to.include({ characters: 90, quota: 95 });
  });

  it("serves exactly 50 of 80 requests of 20 characters over two processes on a quota of 1000", async () => {
    const website = await registerWebsite(service.url, quota(1_000));
    const other = await startOne(folder.path);
    others.push(other);
    const responses = await Promise.all(
      Array.from({ length: 80 }, (_, index) =>
        synthesize((index % 2 ? service : other).url, website, { voice, text: "exactly 20 letters. " }),
      ),
    );
    expect(statuses(responses)).to.deep.equal({ 200: 50, 403: 30 });
  });

  it("lifts a suspension by quota with a higher quota, for the very next request", async () => {
    const website = await registerWebsite(service.url, quota(10));
    const speak = () => synthesize(service.url, website, { voice, text: "ten chars!" });
    expect((await speak()).status).to.equal(200);
    expect((await speak()).status).to.equal(403);
    const plan = { tier: "enterprise", requestsPerMinute: 1_000, monthlyCharacters: 20 };
    expect((await admin(service.url, "PUT", `/keys/${website.apiKey}/plan`, plan)).status).to.equal(200);
    expect((await speak()).status).to.equal(200);
    expect((await speak()).status).to.equal(403);
  });

  it("refuses a revoked secret and a suspended key with the very next request", async () => {
    const website = await registerWebsite(service.url);
    const speak = (credentials: Credentials) =>
      synthesize(service.url, credentials, { voice, text: "Hello" });
    const { body } = await admin(service.url, "POST", `/keys/${website.apiKey}/secrets`);
    const rotated = { ...website, apiSecret: String(body.apiSecret) };
    expect((await speak(rotated)).status).to.equal(200);
    await admin(service.url, "DELETE", `/keys/${website.apiKey}/secrets/${body.secretId}`);
    expect((await speak(rotated)).status).to.equal(401);
    await admin(service.url, "POST", `/keys/${website.apiKey}/suspend`, { reason: "unpaid" });
    expect((await speak(website)).status).to.equal(403);
    await admin(service.url, "POST", `/keys/${website.apiKey}/reinstate`, {});
    expect((await speak(website)).status).to.equal(200);
  });

  it("charges nothing for a part of audio that the key was just charged for", async () => {
    const website = await registerWebsite(service.url);
    const query = { voice, text: "ten chars!" };
    for (const range of ["bytes=0-1", "bytes=0-", "bytes=100-"]) {
      expect((await synthesize(service.url, website, query, { headers: { Range: range } })).status).to.equal(
        206,
      );
    }
    await synthesize(service.url, website, query);
    await synthesize(service.url, website, query, { method: "HEAD" });
    const { body } = await admin(service.url, "GET", `/keys/${website.apiKey}/usage`);
    expect(body).to.include({ characters: 20 });
  });

  it("suspends a key neither for a free part nor for a range outside existing audio, but for the next whole audio", async () => {
    const website = await registerWebsite(service.url, quota(10));
    const speak = (range?: string, text = "ten chars!") =>
      synthesize(service.url, website, { voice, text }, range ? { headers: { Range: range } } : {});
    expect((await speak()).status).to.equal(200);
    for (const range of ["bytes=0-99", "bytes=100-", "bytes=-5"]) {
      expect((await speak(range)).status).to.equal(206);
    }
    expect((await speak("bytes=99999999-")).status).to.equal(416);
    expect((await speak("bytes=0-99")).status).to.equal(206);
    expect(await errorOf(await speak())).to.include({ statusCode: 403, code: "KEY_SUSPENDED" });
    expect(await errorOf(await speak("bytes=0-99"))).to.include({ code: "KEY_SUSPENDED" });
  });

  it("makes no audio for a key over its quota", async () => {
    const poor = await registerWebsite(service.url, quota(9));
    const query = { voice, text: "ten marks!" };
    expect((await synthesize(service.url, poor, query)).status).to.equal(403);
    const rich = await registerWebsite(service.url);
    const found = await synthesize(service.url, rich, query, { method: "HEAD" });
    expect(found.headers.get("content-length")).to.equal(null);
    expect((await synthesize(service.url, rich, query)).headers.get("svc-cached")).to.equal("miss");
  });

  const atOnce = async ({ url }: RunningService, requests: number, longestWait: number, perMinute = 25) => {
    const website = await registerWebsite(url, { requestsPerMinute: perMinute });
    const speak = () => synthesize(url, website, { voice, text: "Hello" });
    const responses = await Promise.all(Array.from({ length: requests }, speak));
    const refused = responses.filter(({ status }) => status === 429);
    for (const response of refused) {
      expect(Number(response.headers.get("retry-after"))).to.be.within(1, longestWait);
      expect(response.headers.get("x-ratelimit-limit")).to.equal(String(perMinute));
    }
    return {
      responses,
      served: responses.filter(({ status }) => status === 200).length,
      codes: new Set(await Promise.all(refused.map(async (response) => (await errorOf(response)).code))),
    };
  };

  it("refuses requests over the minute's limit until the minute ends", async () => {
    const { responses, served, codes } = await atOnce(await start({ BURST_LIMIT: "1000" }), 60, 60);
    // The minute may turn in between, and instances may each admit the whole limit before they
    // exchange their counts.
    const counts = 2 * instances;
    expect(served).to.be.within(25, 25 * counts);
    const remaining = responses
      .filter(({ status }) => status === 200)
      .map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
    for (let left = 0; left < 25; left++) {
      expect(remaining.filter((one) => one === left).length, `${left} remaining`).to.be.at.most(counts);
    }
    expect([...codes]).to.deep.equal(["RATE_LIMIT_EXCEEDED"]);
  });

  it("refuses what is over the burst at once", async () => {
    const service = await start({ BURST_WINDOW_MS: "60000" });
    const { served, codes } = await atOnce(service, 24 * instances, 63, 400); // the window is a twentieth longer than asked for, never shorter
    expect(served).to.equal(20 * instances);
    expect([...codes]).to.deep.equal(["BURST_RATE_LIMIT_EXCEEDED"]);
  });
});

const isAllOf =
  (...allowed: string[]) =>
  (values: readonly (string | null)[]): boolean =>
    values.every((one) => allowed.includes(one ?? ""));
