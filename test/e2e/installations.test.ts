import { join } from "node:path";
import { expect } from "chai";
import { admin, registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";

describe("installations that share an event store", () => {
  const folder = duringSuite(temporaryFolder);
  const services: RunningService[] = [];

  before(async () => {
    for (const STREAM_PREFIX of ["", "prod", "prod-2"]) {
      // Each has its own master key, and all have the same directory of snapshots.
      const MASTER_KEY = Buffer.alloc(32, `key of ${STREAM_PREFIX}`).toString("base64");
      const EVENT_STORE = `sqlite:${join(folder.path, "shared.db")}`;
      services.push(await startService(folder.path, { EVENT_STORE, MASTER_KEY, STREAM_PREFIX }));
    }
  });
  after(async () => {
    for (const service of services) await service.stop();
  });

  it("have their own websites, keys, usage and audit", async () => {
    const websites = [];
    for (const { url } of services) {
      const website = await registerWebsite(url);
      const response = await synthesize(url, website, { voice: "UK English Female", text: "Mine" });
      expect(response.status).to.equal(200);
      await response.arrayBuffer();
      websites.push(website);
    }
    for (const [index, { url, kept }] of services.entries()) {
      await kept();
      const own = websites[index]?.apiKey;
      const { keys } = (await admin(url, "GET", "/keys")).body as { keys: { apiKey: string }[] };
      expect(keys.map(({ apiKey }) => apiKey)).to.deep.equal([own]);
      for (const website of websites) {
        const isOwn = website.apiKey === own;
        const response = await synthesize(url, website, { voice: "UK English Female", text: "Mine" });
        expect(response.status).to.equal(isOwn ? 200 : 401);
        await response.arrayBuffer();
        const usage = await admin(url, "GET", `/keys/${website.apiKey}/usage`);
        expect(usage.body.requests).to.equal(isOwn ? 2 : undefined);
      }
    }
  });
});
