import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { createAccessTokens } from "../../../src/application/access/access-tokens.ts";
import type { Principal, Proof, Validity } from "../../../src/application/access/principal.ts";
import { testPrincipal } from "../../support/principal.ts";

const key = Buffer.alloc(32, 1);
const bySecret: Proof = { by: "secret", secretId: "sec_1" };
const principal = (changes: Partial<Principal> = {}): Principal => ({
  ...testPrincipal({ apiKey: "vlk_1" }),
  proof: bySecret,
  ...changes,
});

describe("access tokens", () => {
  const time = { now: Date.parse("2026-03-01T12:00:00.000Z") };
  const tokensOf = (signingKey = key, ttlSeconds = 60) =>
    createAccessTokens({ key: signingKey, ttlSeconds, clock: () => time.now });

  it("contain the principal that they were issued for, for every kind of proof", () => {
    const tokens = tokensOf();
    for (const proof of [bySecret, { by: "origin", origin: "https://a.example" }] as Proof[]) {
      const { token, exp } = tokens.issue(principal({ proof }));
      expect(tokens.read(token)).to.deep.include({ apiKey: "vlk_1", proof, exp });
    }
  });

  it("are accepted by every instance with the same key and by no other", () => {
    const { token } = tokensOf().issue(principal());
    expect(tokensOf().read(token)?.apiKey).to.equal("vlk_1");
    expect(tokensOf(randomBytes(32)).read(token)).to.equal(undefined);
  });

  it("stay valid while their key is a previous one, and are renewed under the current key", () => {
    const [oldKey, newKey] = [key, Buffer.alloc(32, 2)];
    const { token } = tokensOf(oldKey).issue(principal());
    const during = createAccessTokens({
      key: newKey,
      previousKeys: [randomBytes(32), oldKey],
      ttlSeconds: 60,
      clock: () => time.now,
    });
    const claims = during.read(token);
    expect(claims).to.deep.include({ apiKey: "vlk_1", proof: bySecret });
    time.now += 30_000;
    const renewed = during.renew(principal({ token: claims as Validity }));
    expect(tokensOf(newKey).read(renewed?.token ?? "")?.apiKey).to.equal("vlk_1");
    expect(tokensOf(newKey).read(token)).to.equal(undefined);
  });

  it("expire even if they were verified before", () => {
    const tokens = tokensOf();
    const { token } = tokens.issue(principal());
    expect(tokens.read(token)).to.not.equal(undefined);
    time.now += 60_000;
    expect(tokens.read(token)).to.equal(undefined);
  });

  it("tolerate an instance whose clock is slightly ahead", () => {
    const { token } = tokensOf().issue(principal());
    time.now -= 30_000;
    expect(tokensOf().read(token)).to.not.equal(undefined);
    time.now -= 1_000;
    expect(tokensOf().read(token)).to.equal(undefined);
  });

  it("are renewed after half their lifetime if the request presented one", () => {
    const tokens = tokensOf();
    const { token } = tokens.issue(principal());
    const bearer = () => principal({ token: tokens.read(token) as Validity });
    expect(tokens.renew(bearer())).to.equal(undefined);
    time.now += 30_000;
    expect(tokens.renew(bearer())?.exp).to.equal(time.now / 1_000 + 60);
    expect(tokens.renew(principal())).to.equal(undefined);
  });

  it("with a lifetime of an odd number of seconds are not renewed before their half", () => {
    const tokens = tokensOf(key, 1);
    const { token } = tokens.issue(principal());
    const claims = tokens.read(token);
    time.now += 499;
    expect(tokens.renew(principal({ token: claims as Validity }))).to.equal(undefined);
    time.now += 1;
    expect(tokens.renew(principal({ token: claims as Validity }))).to.not.equal(undefined);
  });
});
