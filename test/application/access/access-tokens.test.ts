import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { createAccessTokens } from "../../../src/application/access/access-tokens.ts";
import type { Principal, Proof, Validity } from "../../../src/application/access/principal.ts";
import { freePlan } from "../../../src/domain/accounts/plan.ts";

const key = Buffer.alloc(32, 1);
const bySecret: Proof = { by: "secret", secretId: "sec_1" };
const principal = (changes: Partial<Principal> = {}): Principal => ({
  apiKey: "vlk_1",
  websiteId: "web_1",
  plan: freePlan,
  proof: bySecret,
  ...changes,
});

describe("access tokens", () => {
  const time = { now: Date.parse("2026-03-01T12:00:00.000Z") };
  const tokensOf = (signingKey = key, ttlSeconds = 60) =>
    createAccessTokens({ key: signingKey, ttlSeconds, clock: () => time.now });

  it("say what they were minted from, for every way of proving it", () => {
    const tokens = tokensOf();
    for (const proof of [bySecret, { by: "origin", origin: "https://a.example" }] as Proof[]) {
      const { token, exp } = tokens.issue(principal({ proof }));
      expect(tokens.read(token)).to.deep.include({ apiKey: "vlk_1", proof, exp });
    }
  });

  it("are the same to every instance with the same key, and nothing to any other", () => {
    const { token } = tokensOf().issue(principal());
    expect(tokensOf().read(token)?.apiKey).to.equal("vlk_1");
    expect(tokensOf(randomBytes(32)).read(token)).to.equal(undefined);
  });

  it("outlive the key that signed them while it is a previous one, and are renewed under the current", () => {
    const [old, anew] = [key, Buffer.alloc(32, 2)];
    const { token } = tokensOf(old).issue(principal());
    const during = createAccessTokens({
      key: anew,
      previousKeys: [randomBytes(32), old],
      ttlSeconds: 60,
      clock: () => time.now,
    });
    const claims = during.read(token);
    expect(claims).to.deep.include({ apiKey: "vlk_1", proof: bySecret });
    time.now += 30_000;
    const renewed = during.renew(principal({ token: claims as Validity }));
    expect(tokensOf(anew).read(renewed?.token ?? "")?.apiKey).to.equal("vlk_1");
    expect(tokensOf(anew).read(token)).to.equal(undefined);
  });

  it("expire also when they were read before", () => {
    const tokens = tokensOf();
    const { token } = tokens.issue(principal());
    expect(tokens.read(token)).to.not.equal(undefined);
    time.now += 60_000;
    expect(tokens.read(token)).to.equal(undefined);
  });

  it("forgive an instance whose clock is a little ahead", () => {
    const { token } = tokensOf().issue(principal());
    time.now -= 30_000;
    expect(tokensOf().read(token)).to.not.equal(undefined);
    time.now -= 1_000;
    expect(tokensOf().read(token)).to.equal(undefined);
  });

  it("are renewed from half their life on, for who came with one", () => {
    const tokens = tokensOf();
    const { token } = tokens.issue(principal());
    const bearer = () => principal({ token: tokens.read(token) as Validity });
    expect(tokens.renew(bearer())).to.equal(undefined);
    time.now += 30_000;
    expect(tokens.renew(bearer())?.exp).to.equal(time.now / 1_000 + 60);
    expect(tokens.renew(principal())).to.equal(undefined);
  });

  it("of odd lives are renewed at their half too, not a second early", () => {
    const tokens = tokensOf(key, 1);
    const { token } = tokens.issue(principal());
    const claims = tokens.read(token);
    time.now += 499;
    expect(tokens.renew(principal({ token: claims as Validity }))).to.equal(undefined);
    time.now += 1;
    expect(tokens.renew(principal({ token: claims as Validity }))).to.not.equal(undefined);
  });
});
