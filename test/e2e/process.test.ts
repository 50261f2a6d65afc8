import { expect } from "chai";
import { admin, registerWebsite, synthesize } from "../support/client.ts";
import { duringTest } from "../support/during.ts";
import { adminToken, startService, temporaryFolder } from "../support/service.ts";

const voice = "UK English Female";

/** The request ids in the key's ledger. */
const recorded = async (url: string, apiKey: string): Promise<Set<string>> => {
  const response = await fetch(`${url}/admin/audit?apiKey=${apiKey}`, {
    headers: { Authorization: `Bearer ${adminToken}` },
  });
  const entries = (await response.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return new Set(entries.flatMap(({ type, data }) => (type === "SynthesisServed" ? [data.requestId] : [])));
};

describe("The service process", () => {
  const folder = duringTest(temporaryFolder);

  it("completes and records the requests in flight on SIGTERM, exits with 0, and restores its views when restarted", async () => {
    const service = await startService(folder.path);
    const website = await registerWebsite(service.url);
    const texts = Array.from(
      { length: 12 },
      (_, i) => `In flight, sentence number ${i}, when the end was called.`,
    );
    const flight = texts.map((text) => synthesize(service.url, website, { voice, text }));
    await Promise.race(flight);
    const code = service.stop();
    const responses = await Promise.allSettled(flight);
    expect(await code).to.equal(0);
    const ids = responses.flatMap((one) =>
      one.status === "fulfilled" && one.value.status === 200
        ? [one.value.headers.get("x-request-id") ?? ""]
        : [],
    );
    expect(ids).to.not.be.empty;
    const again = await startService(folder.path);
    const ledger = await recorded(again.url, website.apiKey);
    const { body } = await admin(again.url, "GET", `/keys/${website.apiKey}`);
    await again.stop();
    expect(ids.filter((id) => !ledger.has(id))).to.deep.equal([]);
    expect(ledger.size).to.equal(ids.length);
    const sizes = responses.flatMap((one, index) =>
      one.status === "fulfilled" && one.value.status === 200 ? [texts[index]?.length ?? 0] : [],
    );
    expect(body.usage).to.include({ characters: sizes.reduce((sum, size) => sum + size, 0) });
  });
});
