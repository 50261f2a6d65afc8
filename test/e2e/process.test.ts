import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { admin, authorize, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { adminToken, failToStart, instances, startService, temporaryFolder } from "../support/service.ts";

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
          const text = `Round ${round}, client ${name}, sentence ${i % 5}.`;
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
  }).timeout(120_000);

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

  it("does not start with an invalid setting, and names it in one line on standard error", async () => {
    const { code, stdout, stderr } = await failToStart({ PORT: "eighty", DATA_DIR: folder.path });
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 1,
      stdout: "",
      stderr: "voxledger: PORT: must be a whole number\n",
    });
  });

  it("does not start on a port in use, and reports it", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await failToStart({ PORT: String(port), DATA_DIR: folder.path });
    other.close();
    expect(code).to.equal(1);
    expect(stderr).to.match(/^voxledger: PORT: .*EADDRINUSE.*\n$/);
  });

  for (const [name, value] of [
    ["EVENT_STORE", "sqlite:/dev/null/x.db"],
    ["EVENT_STORE", "sqlite:/proc/x/y.db"],
    ["EVENT_STORE", "sqlite:/dev"],
    ["AUDIO_STORE", "file:/dev/null/x"],
    ["AUDIO_STORE", "file:/proc/x/y"],
    ["DATA_DIR", "/dev/null"],
    ["DATA_DIR", "/proc/x"],
    ["HOST", "no-such-host.invalid"],
  ] as const) {
    it(`does not start with ${name}=${value}, and names it in one line`, async () => {
      const { code, stderr } = await failToStart({ PORT: "0", DATA_DIR: folder.path, [name]: value });
      expect(code).to.equal(1);
      expect(stderr).to.match(new RegExp(`^voxledger: ${name}: [^\\n]+\\n$`));
    });
  }

  it("reports a failed shutdown in one line, and exits with 1", async () => {
    const ending = spawn(process.execPath, ["test/support/closing-in-vain.ts"], { stdio: "pipe" });
    const stderr: string[] = [];
    ending.stderr.on("data", (chunk) => stderr.push(String(chunk)));
    await once(ending.stdout, "data");
    ending.kill("SIGTERM");
    const [code] = await once(ending, "close");
    expect(code).to.equal(1);
    expect(stderr.join("")).to.equal("voxledger: the lock is held (by another)\n");
  });

  it("has no admin API without an admin token, and rejects a wrong token", async () => {
    const open = await startService(folder.path, { ADMIN_TOKEN: "" });
    expect((await admin(open.url, "GET", "/keys")).status).to.equal(404);
    await open.stop();
    const other = await startService(folder.path, { ADMIN_TOKEN: "quite-another-token-than-ours" });
    const { status, body } = await admin(other.url, "GET", "/keys");
    await other.stop();
    expect(status).to.equal(401);
    expect(body.error).to.include({ code: "UNAUTHORIZED" });
  });

  it("throttles admin token guesses before it checks them, so that a correct token is refused as well", async () => {
    const service = await startService(folder.path);
    const headers = { Authorization: "Bearer a-guess-at-the-token" };
    const statuses: number[] = [];
    for (let guess = 0; guess < 35 * instances; guess++) {
      statuses.push((await fetch(`${service.url}/admin/keys`, { headers })).status);
    }
    const known = await admin(service.url, "GET", "/keys");
    await service.stop();
    expect(statuses[0]).to.equal(401);
    expect(statuses.at(-1)).to.equal(429);
    expect(known.status).to.equal(429);
  });

  it("uses the configured prefix for its response headers", async () => {
    const service = await startService(folder.path, { HEADER_PREFIX: "Acme" });
    const website = await registerWebsite(service.url);
    const query = new URLSearchParams({ voice, text: "Hello" });
    const response = await fetch(`${service.url}/v2/text/synthesize?${query}`, {
      headers: authorize(website),
    });
    await service.stop();
    expect(response.headers.get("acme-cached")).to.equal("miss");
    expect(response.headers.get("svc-cached")).to.equal(null);
  });
});
