import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { credentialsStream } from "../../../src/domain/accounts/credentials.ts";
import { websiteStream } from "../../../src/domain/accounts/website.ts";
import { Invalid, NotFound } from "../../../src/domain/errors.ts";
import type { ProviderVoice } from "../../../src/engines/provider.ts";
import {
  type CredentialsInstance,
  fakeGoogle,
  masterKeys,
  openCredentialsInstance,
  operator,
  otherKey,
  rightKey,
  textFrom,
} from "../../support/credentials-instance.ts";
import { duringTest } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { temporaryFolder } from "../../support/service.ts";

const at = "2026-03-01T12:00:00.000Z";
const details = { engine: "gwn", provider: "google", voices: 2, setAt: at };

describe("credentials over a store", () => {
  const service = duringTest(openCredentialsInstance);
  let website: string;

  beforeEach(async () => {
    website = await service.aWebsite();
  });

  const set = (apiKey = rightKey, { credentials } = service) =>
    credentials.set(website, "gwn", { apiKey }, operator);
  const eventsOf = (id = website) => service.read(credentialsStream(id));

  it("are listed by engine, provider and number of voices, without the secrets", async () => {
    expect(await set()).to.deep.equal(details);
    expect(await service.credentials.list(website)).to.deep.equal([details]);
  });

  it("are listed for all websites, also for one whose name no key decrypts", async () => {
    await set();
    const name = `encrypted:v1.${"A".repeat(40)}`;
    await service.append(websiteStream(website), "WebsiteRenamed", { name, at });
    expect(await service.credentials.listAll()).to.deep.equal([
      { websiteId: website, websiteName: "(lost)", ...details },
    ]);
  });

  it("that the provider refuses are not stored, and its message is returned without them", async () => {
    const error = await rejection(set("wrong-key-03fd"));
    expect(error)
      .to.be.instanceOf(Invalid)
      .with.property("message", "The provider's voices could not be listed: API key not valid: ….");
    expect(await eventsOf()).to.deep.equal([]);
    expect(await service.credentials.list(website)).to.deep.equal([]);
  });

  it("that the provider refuses do not replace earlier ones", async () => {
    await set();
    await rejection(set("wrong-key-03fd"));
    expect(await service.credentials.list(website)).to.deep.equal([details]);
    expect(await textFrom(service.accountOf(website, "gwn"))).to.equal(rightKey);
  });

  it("are replaced completely by new ones", async () => {
    await set();
    await set(otherKey);
    expect(await service.credentials.list(website)).to.deep.equal([details]);
    expect(await textFrom(service.accountOf(website, "gwn"))).to.equal(otherKey);
  });

  it("are removed with their voices", async () => {
    await set();
    await service.credentials.remove(website, "gwn", operator);
    expect(await service.credentials.list(website)).to.deep.equal([]);
    expect(service.accountOf(website, "gwn")).to.equal(undefined);
    expect(service.ownVoicesOf(website)).to.equal(undefined);
    const again = await rejection(service.credentials.remove(website, "gwn", operator));
    expect(again).to.be.instanceOf(NotFound).with.property("message").that.includes("gwn");
  });

  it("are refused for an unknown website", async () => {
    const { credentials } = service;
    const unknownStream = credentialsStream("web_none");
    for (const refused of [
      credentials.set("web_none", "gwn", { apiKey: rightKey }, operator),
      credentials.remove("web_none", "gwn", operator),
    ]) {
      expect(await rejection(refused))
        .to.be.instanceOf(NotFound)
        .with.property("message", "There is no such website.");
    }
    expect(await rejection(credentials.list("web_none"))).to.be.instanceOf(NotFound);
    expect(await service.read(unknownStream)).to.deep.equal([]);
  });

  it("are refused for an engine without a provider", async () => {
    const azure = service.credentials.set(
      website,
      "msv",
      { subscriptionKey: "k", region: "westeurope" },
      operator,
    );
    expect(await rejection(azure))
      .to.be.instanceOf(NotFound)
      .with.property("message")
      .that.includes("msv");
  });

  it("are logged with the actor and the request that set them", async () => {
    await set();
    const [event] = await eventsOf();
    expect(event?.metadata).to.deep.equal({ actor: "admin", correlationId: "req-1" });
    expect(event?.data).to.include({ engine: "gwn", provider: "google", at, keyId: service.sealing.keyId });
  });

  it("are never written in clear text to any file", async () => {
    await set();
    await textFrom(service.accountOf(website, "gwn"));
    const [event] = await eventsOf();
    const files = await readdir(service.folder, { recursive: true, withFileTypes: true });
    const contents = await Promise.all(
      files
        .filter((file) => file.isFile())
        .map((file) => readFile(join(file.parentPath, file.name), "latin1")),
    );
    const kept = event?.data as { ciphertext: string } | undefined;
    expect(contents.some((content) => content.includes(kept?.ciphertext ?? "nothing"))).to.equal(true);
    for (const clear of [rightKey, Buffer.from(rightKey).toString("base64url").slice(0, 20)]) {
      expect(contents.some((content) => content.includes(clear))).to.equal(false);
    }
  });
});

describe("listing a provider's voices when credentials are set", () => {
  /** Sets credentials with this result of the provider's list. Resolves with the error. */
  const settingWith = async (
    list: () => Promise<readonly ProviderVoice[]>,
    deadlineMs = 15_000,
  ): Promise<unknown> => {
    const service = await openCredentialsInstance({ providers: { gwn: fakeGoogle(list) }, deadlineMs });
    try {
      const website = await service.aWebsite();
      const error = await rejection(service.credentials.set(website, "gwn", { apiKey: rightKey }, operator));
      expect(await service.read(credentialsStream(website))).to.deep.equal([]);
      return error;
    } finally {
      await service.close();
    }
  };

  it("is aborted after its deadline, even if the provider ignores the signal", async () => {
    const error = await settingWith(() => new Promise(() => {}), 10);
    expect(error)
      .to.be.instanceOf(Invalid)
      .with.property(
        "message",
        "The provider's voices could not be listed: The speech provider cannot be reached or does not respond.",
      );
  });

  it("fails if no voice is usable or if there are too many", async () => {
    expect(await settingWith(async () => [])).to.be.instanceOf(Invalid);
    const many = Array.from({ length: 20_000 }, (_, i) => ({
      name: `voice ${i} ${"x".repeat(40)}`,
      lang: "en-US",
      gender: "f" as const,
    }));
    expect(await settingWith(async () => many)).to.be.instanceOf(Invalid);
  });

  it("hides an unknown error, which may contain the credentials", async () => {
    const failed = Object.assign(new Error(`GET /voices?key=${rightKey}`), { config: { headers: rightKey } });
    const error = await settingWith(() => Promise.reject(failed));
    expect(error)
      .to.be.instanceOf(Invalid)
      .with.property("message", "The provider's voices could not be listed.");
    expect((error as Error).cause).to.equal(undefined);
  });
});

describe("rotating the master key", () => {
  const folder = duringTest(temporaryFolder);
  const [oldKey] = masterKeys;
  const newKey = Buffer.alloc(32, 8);

  const withKeys = async <T>(
    keys: readonly [Buffer, ...Buffer[]],
    work: (service: CredentialsInstance) => Promise<T>,
  ): Promise<T> => {
    const service = await openCredentialsInstance({ folder: folder.path, keys });
    try {
      return await work(service);
    } finally {
      await service.close();
    }
  };
  const aWebsiteWithCredentials = () =>
    withKeys([oldKey], async ({ aWebsite, credentials }) => {
      const website = await aWebsite();
      await credentials.set(website, "gwn", { apiKey: rightKey }, operator);
      return website;
    });
  const spoken = (website: string) => (service: CredentialsInstance) =>
    textFrom(service.accountOf(website, "gwn"));

  it("keeps all credentials usable, with both keys before re-encryption and with the new key after it", async () => {
    const websites = [await aWebsiteWithCredentials(), await aWebsiteWithCredentials()];
    for (const website of websites)
      expect(await withKeys([newKey, oldKey], spoken(website))).to.equal(rightKey);

    const done = await withKeys([newKey, oldKey], ({ credentials }) => credentials.reencrypt(operator));
    expect(done).to.deep.equal({ reencrypted: 2, current: 0, unopened: [] });
    for (const website of websites) expect(await withKeys([newKey], spoken(website))).to.equal(rightKey);
  });

  it("is idempotent", async () => {
    const website = await aWebsiteWithCredentials();
    await withKeys([newKey, oldKey], async ({ credentials, read }) => {
      await credentials.reencrypt(operator);
      expect(await credentials.reencrypt(operator)).to.deep.equal({
        reencrypted: 0,
        current: 1,
        unopened: [],
      });
      const events = await read(credentialsStream(website));
      expect(events.map(({ type }) => type)).to.deep.equal(["CredentialsSet", "CredentialsReencrypted"]);
    });
  });

  it("keeps the account with its limits and connections", async () => {
    const website = await aWebsiteWithCredentials();
    await withKeys([newKey, oldKey], async ({ credentials, accountOf }) => {
      const before = accountOf(website, "gwn");
      await credentials.reencrypt(operator);
      expect(accountOf(website, "gwn")).to.equal(before);
    });
  });

  it("reports credentials that no key can open and does not change them", async () => {
    const website = await aWebsiteWithCredentials();
    const done = await withKeys([newKey], ({ credentials }) => credentials.reencrypt(operator));
    expect(done).to.deep.equal({
      reencrypted: 0,
      current: 0,
      unopened: [{ websiteId: website, engine: "gwn" }],
    });
    expect(await withKeys([oldKey], spoken(website))).to.equal(rightKey);
  });
});
