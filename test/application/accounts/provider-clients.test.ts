import { expect } from "chai";
import { credentialsStream } from "../../../src/domain/accounts/credentials.ts";
import { EngineFailed, Invalid } from "../../../src/domain/errors.ts";
import {
  type CredentialsInstance,
  fakeGoogle,
  openCredentialsInstance,
  operator,
  otherKey,
  rightKey,
  textFrom,
} from "../../support/credentials-instance.ts";
import { rejection } from "../../support/rejection.ts";

describe("a website's account with a provider", () => {
  let google: ReturnType<typeof fakeGoogle>;
  let service: CredentialsInstance;
  let website: string;

  beforeEach(async () => {
    google = fakeGoogle();
    service = await openCredentialsInstance({ providers: { gwn: google } });
    website = await service.aWebsite();
  });
  afterEach(() => service.close());

  const set = (apiKey = rightKey, id = website) => service.credentials.set(id, "gwn", { apiKey }, operator);

  it("does not exist without credentials", async () => {
    await set();
    expect(service.accountOf(website, "oai")).to.equal(undefined);
    expect(service.accountOf(await service.aWebsite(), "gwn")).to.equal(undefined);
    expect(service.accountOf("web_none", "gwn")).to.equal(undefined);
  });

  it("is opened once and shared by all callers", async () => {
    await set();
    const before = google.opened.length;
    const accounts = Array.from({ length: 5 }, () => service.accountOf(website, "gwn"));
    expect(new Set(accounts).size).to.equal(1);
    expect(google.opened.length - before).to.equal(1);
  });

  it("is opened again when credentials are set, even if they are the same", async () => {
    await set();
    const first = service.accountOf(website, "gwn");
    await set();
    const second = service.accountOf(website, "gwn");
    await set(otherKey);
    const third = service.accountOf(website, "gwn");
    expect(new Set([first, second, third]).size).to.equal(3);
    expect(await textFrom(third)).to.equal(otherKey);
  });

  it("is separate for each website, even with the same credentials", async () => {
    const another = await service.aWebsite();
    await set();
    await set(rightKey, another);
    expect(service.accountOf(website, "gwn")).to.not.equal(service.accountOf(another, "gwn"));
  });

  describe("that cannot be opened", () => {
    /** An instance on the same log with a faulty configuration. */
    const openOnSameLog = (options: Parameters<typeof openCredentialsInstance>[0]) =>
      openCredentialsInstance({ folder: service.folder, ...options });

    const expectFailing = async (
      { accountOf, warnings }: CredentialsInstance,
      message: RegExp,
    ): Promise<void> => {
      expect(warnings).to.deep.equal([]);
      for (let attempt = 0; attempt < 3; attempt++) {
        const failure = await rejection(textFrom(accountOf(website, "gwn")));
        expect(failure).to.be.instanceOf(EngineFailed).with.property("message").that.includes("set again");
      }
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.match(message).and.to.include(website).and.to.not.include(rightKey);
    };

    it("fails when used without the master key, and is logged once", async () => {
      await set();
      const stranger = await openOnSameLog({ keys: [Buffer.alloc(32, 9)] });
      await expectFailing(stranger, /MASTER_KEY.*unknown key/);
      await stranger.close();
    });

    it("fails when used if the credentials were encrypted for another website", async () => {
      const another = await service.aWebsite();
      await set(rightKey, another);
      const [event] = await service.read(credentialsStream(another));
      await service.append(credentialsStream(website), "CredentialsSet", event?.data ?? {});
      await expectFailing(service, /encrypted for another context/);
    });

    it("fails when used if the provider no longer accepts the credentials", async () => {
      await set();
      const strict = fakeGoogle();
      const refusing = {
        ...strict,
        open: () => {
          throw new Invalid([{ path: ["baseUrl"], message: "It leads to a forbidden address." }]);
        },
      };
      const stricter = await openOnSameLog({ providers: { gwn: refusing } });
      await expectFailing(stricter, /forbidden address/);
      await stricter.close();
    });

    it("fails when used if the provider throws, without disclosing the error", async () => {
      await set();
      const failing = {
        ...fakeGoogle(),
        open: () => {
          throw new TypeError(`no key file: ${rightKey}`);
        },
      };
      const broken = await openOnSameLog({ providers: { gwn: failing } });
      await expectFailing(broken, /rejected them/);
      await broken.close();
    });

    it("works again after the credentials are set again", async () => {
      await set();
      const stranger = await openOnSameLog({ keys: [Buffer.alloc(32, 9)] });
      await rejection(textFrom(stranger.accountOf(website, "gwn")));
      await stranger.credentials.set(website, "gwn", { apiKey: otherKey }, operator);
      expect(await textFrom(stranger.accountOf(website, "gwn"))).to.equal(otherKey);
      await stranger.close();
    });
  });
});
