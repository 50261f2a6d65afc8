import { expect } from "chai";
import type { KeyDetails } from "../../../../src/application/accounts/keys.ts";
import type { UsageOverview } from "../../../../src/ledger/reports/usage-overview.ts";
import { admin, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";
import { adminToken } from "../../../support/service.ts";

type Overview = UsageOverview & Record<string, unknown>;

describe("what the admin API responds for the console", () => {
  const service = duringSuite(startInProcessService);
  const website = duringSuite(() => registerWebsite(service.url));
  before(async () => {
    for (const name of ["Bakery", "abbey", "Cinema"]) await admin(service.url, "POST", "/websites", { name });
  });

  type Body = Record<string, unknown>;
  const get = async (path: string) => await admin(service.url, "GET", path);
  const speak = (apiKey: string, body: object) =>
    fetch(`${service.url}/admin/keys/${apiKey}/speech`, {
      method: "POST",
      headers: { Authorization: `Bearer ${adminToken}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  const namesOf = ({ body }: { body: Body }) =>
    (body.keys as { websiteName: string }[]).map(({ websiteName }) => websiteName);

  it("sorts keys by the name of their website, and links to the next page with the same order and filters", async () => {
    const query = "?sort=website&limit=2&order=descending";
    const first = await get(`/keys${query}`);
    expect(first.body).to.include({ count: 2, total: 4 });
    const { href } = (first.body._links as { next: { href: string } }).next;
    const second = await get(`/keys${href}`);
    expect([...namesOf(first), ...namesOf(second)]).to.deep.equal([
      "Cinema",
      "Bakery",
      "abbey",
      "a test's website",
    ]);
  });

  it("finds keys by the name of their website and by their state", async () => {
    expect(namesOf(await get("/keys?search=BAKER"))).to.deep.equal(["Bakery"]);
    expect((await get("/keys?search=nothing")).body).to.include({ count: 0, total: 0 });
    expect((await get("/keys?status=suspended")).body).to.include({ total: 0 });
    expect((await get("/keys?status=active&sort=plan")).body).to.include({ total: 4 });
    expect((await get("/keys?sort=colour")).status).to.equal(400);
  });

  it("continues a filtered list after a key that no longer matches the filter", async () => {
    const { body } = await get("/keys?status=active&limit=1");
    const [{ apiKey }] = body.keys as [{ apiKey: string }];
    await admin(service.url, "POST", `/keys/${apiKey}/suspend`, { reason: "invoice overdue" });
    const { href } = (body._links as { next: { href: string } }).next;
    const next = await get(`/keys${href}`);
    await admin(service.url, "POST", `/keys/${apiKey}/reinstate`, { reason: "paid" });
    expect(next.body).to.include({ count: 1, total: Number(body.total) - 1 });
    expect((next.body.keys as [{ apiKey: string }])[0].apiKey).to.not.equal(apiKey);
  });

  it("finds websites by their name", async () => {
    const { body } = await get("/websites?search=cin");
    expect(body).to.include({ total: 1 });
  });

  it("reads the history of a key in pages, without the hashes of secrets", async () => {
    const { apiKey } = await registerWebsite(service.url);
    const suspension = { reason: "invoice overdue" };
    await admin(service.url, "POST", `/keys/${apiKey}/suspend`, suspension);
    type Events = { type: string; revision: number; data: Body; metadata: Body }[];
    const { body } = await get(`/keys/${apiKey}/history`);
    const events = body.events as Events;
    expect(events.map(({ type }) => type)).to.deep.equal(["KeyIssued", "SecretCreated", "KeySuspended"]);
    expect(events[1]?.data.hash).to.equal("[withheld]");
    expect(events[2]?.metadata.actor).to.equal("admin");
    const page = await get(`/keys/${apiKey}/history?limit=2`);
    const { href } = (page.body._links as { next: { href: string } }).next;
    const next = (await get(`/keys/${apiKey}/history${href}`)).body;
    expect((next.events as Events).map(({ type }) => type)).to.deep.equal(["KeySuspended"]);
    expect(next._links).to.deep.equal({});
    const latest = (await get(`/keys/${apiKey}/history?order=descending&limit=2`)).body;
    expect((latest.events as Events).map(({ revision }) => revision)).to.deep.equal([2, 1]);
    const before = (
      await get(`/keys/${apiKey}/history${(latest._links as { next: { href: string } }).next.href}`)
    ).body;
    expect((before.events as Events).map(({ revision }) => revision)).to.deep.equal([0]);
    expect((await get(`/keys/${apiKey}/history?order=descending&after=0`)).body).to.include({ count: 0 });
    expect((await get("/keys/unknown/history")).status).to.equal(404);
  });

  it("speaks for a key at its expense, for the operator alone", async () => {
    const text = "The train leaves.";
    const response = await speak(website.apiKey, { voice: "UK English Female", text });
    expect(response.status).to.equal(200);
    expect(Object.fromEntries(response.headers)).to.include({
      "content-type": "audio/mpeg",
      "cache-control": "no-store",
    });
    expect((await response.arrayBuffer()).byteLength).to.be.above(1_000);
    const { body } = await get(`/keys/${website.apiKey}/usage`);
    expect(body).to.include({ requests: 1, characters: text.length });
  });

  it("speaks for no key that is unknown or suspended", async () => {
    const body = { voice: "UK English Female", text: "The train leaves." };
    expect((await speak("unknown", body)).status).to.equal(404);
    const { apiKey } = await registerWebsite(service.url);
    await admin(service.url, "POST", `/keys/${apiKey}/suspend`, { reason: "invoice overdue" });
    expect((await speak(apiKey, body)).status).to.equal(403);
  });

  it("counts what it served and refused, by hour", async () => {
    await ask(`${service.url}/v2/config`);
    const { body } = await get("/status");
    expect(body).to.include.keys("instance", "startedAt", "position", "health");
    expect(body.projections).to.deep.include({ live: true, failed: [] });
    const [hour] = body.activity as { from: string; served: { miss: Body }; refused: Body }[];
    expect(hour?.from).to.equal("2026-11-05T10:00:00.000Z");
    expect(hour?.served.miss).to.deep.equal({ requests: 1, characters: 17 });
    expect(hour?.refused).to.include({ UNAUTHORIZED: 1 });
  });

  it("adds up what all keys were served today and this month, exactly up to a position", async () => {
    const { apiKey } = await registerWebsite(service.url);
    let before = (await get("/usage")).body as Overview;
    while (!before.isComplete) before = (await get("/usage")).body as Overview;
    for (const text of ["A first sentence.", "A first sentence."]) {
      const response = await speak(apiKey, { voice: "UK English Female", text });
      await response.arrayBuffer();
    }
    const after = (await get("/usage")).body as Overview;
    expect(after).to.include({ asOf: "2026-11-05T10:00:00.000Z", isComplete: true });
    expect(after.asOfPosition).to.be.above(before.asOfPosition);
    for (const period of ["today", "month"] as const) {
      expect(after[period].requests).to.equal(before[period].requests + 2);
      expect(after[period].characters).to.equal(before[period].characters + 34);
      expect(after[period].served.miss.requests).to.equal(before[period].served.miss.requests + 1);
      expect(after[period].served.memory.requests).to.equal(before[period].served.memory.requests + 1);
    }
    expect([after.today.from, after.month.from]).to.deep.equal(["2026-11-05", "2026-11-01"]);
    expect(after.days.length).to.equal(31);
    const { day, engines } = after.days.at(-1) ?? { day: "", engines: {} };
    expect(day).to.equal("2026-11-05");
    expect(Object.values(engines).reduce((sum, { requests }) => sum + requests, 0)).to.equal(
      after.today.requests,
    );
    const { usage } = (await get(`/keys/${apiKey}`)).body as unknown as KeyDetails;
    const report = (await get(`/keys/${apiKey}/usage?asOfPosition=${usage?.asOfPosition}`)).body;
    expect(usage?.characters).to.equal(34);
    expect(report).to.include({ characters: 34, asOfPosition: usage?.asOfPosition });
  });

  it("sorts keys by their usage, in pages that continue after a key whose usage grows", async () => {
    const spoken = new Map<string, number>();
    for (const text of ["One.", "Two, three.", "Four, five, six."]) {
      const { apiKey } = await registerWebsite(service.url);
      await (await speak(apiKey, { voice: "UK English Female", text })).arrayBuffer();
      spoken.set(apiKey, text.length);
    }
    const pageOf = async (query: string) => {
      const { body } = await get(`/keys${query}`);
      const page = body as unknown as {
        keys: KeyDetails[];
        total: number;
        _links: { next?: { href: string } };
      };
      return { ...page, usages: page.keys.map(({ usage }) => usage?.characters ?? -1) };
    };
    const all = await pageOf("?sort=usage&order=descending");
    expect(all.usages).to.deep.equal(all.usages.toSorted((a, b) => b - a));
    const apiKeys = all.keys.map(({ apiKey }) => apiKey).filter((apiKey) => spoken.has(apiKey));
    expect(apiKeys).to.deep.equal([...spoken.keys()].reverse());
    expect((await pageOf("?sort=usage")).usages).to.deep.equal(all.usages.toReversed());

    const first = await pageOf("?sort=usage&order=descending&limit=2");
    await (
      await speak(first.keys[1]?.apiKey ?? "", { voice: "UK English Female", text: "More. ".repeat(20) })
    ).text();
    const second = await pageOf(`${first._links.next?.href}`);
    expect([...first.usages, ...second.usages]).to.deep.equal(all.usages.slice(0, 4));
    expect(second.total).to.equal(all.total);
    expect((await get("/keys?sort=usage&after=unknown")).status).to.equal(400);
  });

  it("shows the queues of the speech tools", async () => {
    const { body } = await get("/providers");
    const names = (body.resources as { resource: string }[]).map(({ resource }) => resource);
    expect(names).to.not.deep.equal([]);
    expect(body.providers).to.deep.equal([]);
    expect((await get("/credentials")).body).to.include({ total: 0 });
  });
});
