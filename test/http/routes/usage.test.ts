import { expect } from "chai";
import { admin, authorize, registerWebsite } from "../../support/client.ts";
import { duringSuite, duringTest } from "../../support/during.ts";
import { ask, startInProcessService } from "../../support/in-process-service.ts";

describe("GET /v2/usage", () => {
  const service = duringSuite(startInProcessService);
  const website = duringTest(() =>
    registerWebsite(service.url, { requestsPerMinute: 1_000, monthlyCharacters: 100 }),
  );

  const get = async (query = "", headers: Record<string, string> = authorize(website)) => {
    const response = await ask(`${service.url}/v2/usage${query}`, { headers });
    return { ...response, body: JSON.parse(response.text) };
  };
  const speak = async (text: string) => {
    const query = new URLSearchParams({ voice: "UK English Female", text });
    const url = `${service.url}/v2/text/synthesize?${query}`;
    return (await ask(url, { headers: authorize(website) })).status;
  };

  it("returns what is used and remains of the plan, by day, engine and voice", async () => {
    expect(await speak("The train leaves at nine.")).to.equal(200);
    const { status, headers, body } = await get();
    expect([status, headers["cache-control"]]).to.deep.equal([200, "no-store"]);
    const totals = { requests: 1, characters: 25 };
    expect(body).to.deep.include({
      month: "2026-11",
      used: 25,
      limit: 100,
      remaining: 75,
      requests: 1,
      reset: "2026-12-01T00:00:00.000Z",
      byDay: [{ day: "2026-11-05", ...totals }],
      byVoice: [{ voice: "UK English Female", ...totals }],
    });
    expect(body.byEngine).to.have.length(1);
  });

  it("agrees with the operator's report of the key", async () => {
    await speak("Agreed to the character.");
    const { body } = await get();
    const report = await admin(service.url, "GET", `/keys/${website.apiKey}/usage`);
    const { characters, requests, byDay, byEngine, byVoice } = report.body as typeof body;
    expect(body).to.deep.include({ used: characters, requests, byDay, byEngine, byVoice });
  });

  it("returns the usage as of an earlier time, and of another month", async () => {
    await speak("Later than the time asked about.");
    const earlier = await get("?asOf=2026-11-05");
    expect(earlier.body).to.include({ asOf: "2026-11-05T00:00:00.000Z", used: 0, month: "2026-11" });
    const other = await get("?month=2026-12");
    expect(other.body).to.include({ used: 0, remaining: 100, reset: "2027-01-01T00:00:00.000Z" });
  });

  it("links to itself and to the month before", async () => {
    const { body } = await get("?month=2026-01");
    expect(body._links).to.deep.equal({
      self: { href: `${service.url}/v2/usage?month=2026-01` },
      previousMonth: { href: `${service.url}/v2/usage?month=2025-12` },
    });
  });

  it("has no limit and no remainder for a plan without a quota", async () => {
    const unlimited = await registerWebsite(service.url, { requestsPerMinute: 10 });
    const { body } = await get("", authorize(unlimited));
    expect([body.limit, body.remaining]).to.deep.equal([null, null]);
  });

  it("is readable with a suspended key", async () => {
    await admin(service.url, "POST", `/keys/${website.apiKey}/suspend`, { reason: "unpaid" });
    expect((await get()).status).to.equal(200);
  });

  it("is readable with an access token issued for the secret, and not with a verified origin", async () => {
    const config = await ask(`${service.url}/v2/config`, { headers: authorize(website) });
    const { token } = JSON.parse(config.text).auth;
    expect((await get("", { Authorization: `Bearer ${token}` })).status).to.equal(200);
    const origin = "https://shop.example";
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [origin] });
    const byOrigin = { "X-API-Key": website.apiKey, Origin: origin };
    expect((await ask(`${service.url}/v2/config`, { headers: byOrigin })).status).to.equal(200);
    expect((await get("", byOrigin)).status).to.equal(403);
  });

  it("refuses an invalid month or time with its path", async () => {
    for (const [query, path] of [
      ["?month=2026-13", "month"],
      ["?month=0001-01", "month"],
      ["?month=9999-12", "month"],
      ["?asOf=soon", "asOf"],
      ["?asOf=0000-01-01T00:00:00%2B01:00", "asOf"],
      ["?asOf=9999-12-31T23:59:59-01:00", "asOf"],
      ["?month=2026-11&month=2026-12", "month"],
    ]) {
      const { status, body } = await get(query);
      expect([status, body.error.errors[0].path]).to.deep.equal([400, [path]]);
    }
    expect((await get("?month=2026-13")).body.error.message).to.equal(
      "month: Must be YYYY-MM, such as 2026-11.",
    );
    expect((await get("?asOf=soon")).body.error.message).to.include("a date (2026-11-01) or a time");
  });
});
