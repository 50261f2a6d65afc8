import { expect } from "chai";
import { admin, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
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
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  it("has every delivered synthesis in the ledger after SIGKILL under load, three times", async () => {
    const answered: string[] = [];
    let website: Credentials | undefined;
    for (let round = 0; round < 3; round++) {
      const service = await startService(folder.path);
      website ??= await registerWebsite(service.url);
      const credentials = website;
      const enough = Promise.withResolvers<void>();
      let killed = false;
      const client = async (name: number): Promise<void> => {
        for (let i = 0; !killed; i++) {
          const text = `Round ${round}, client ${name}, sentence ${i % 2}.`;
          const response = await synthesize(service.url, credentials, { voice, text }).catch(() => undefined);
          if (response?.status === 200) answered.push(response.headers.get("x-request-id") ?? "");
          if (answered.length >= 100 * (round + 1)) enough.resolve();
        }
      };
      const load = Promise.all(Array.from({ length: 8 }, (_, name) => client(name)));
      await enough.promise;
      await service.kill();
      killed = true;
      await load;
    }
    const service = await startService(folder.path);
    const ledger = await recorded(service.url, website?.apiKey ?? "");
    await service.stop();
    expect(answered.length).to.be.at.least(300);
    expect(answered.filter((id) => !ledger.has(id))).to.deep.equal([]);
  });

  it("completes and records the requests in flight on SIGTERM, and exits with 0", async () => {
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
    await again.stop();
    expect(ids.filter((id) => !ledger.has(id))).to.deep.equal([]);
    expect(ledger.size).to.equal(ids.length);
  });

  it("restores its views, limits and catalog after a restart", async () => {
    const first = await startService(folder.path);
    const website = await registerWebsite(first.url);
    await synthesize(first.url, website, { voice, text: "ten chars!" });
    await first.stop();
    const second = await startService(folder.path);
    const { body } = await admin(second.url, "GET", `/keys/${website.apiKey}`);
    await second.stop();
    expect(body.usage).to.include({ characters: 10 });
  });
});
