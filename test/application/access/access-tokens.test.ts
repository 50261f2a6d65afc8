import { createHmac, randomBytes } from "node:crypto";
import { expect } from "chai";
import { type AccessTokens, createAccessTokens } from "../../../src/application/access/access-tokens.ts";
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

  describe("of one session", () => {
    const hour = 3_600;
    const day = 24 * hour;
    const bearerOf = (tokens: AccessTokens, token: string) =>
      principal({ token: tokens.read(token) as Validity });

    it("end a day after it began, however often they are refreshed and renewed", () => {
      const tokens = tokensOf(key, hour);
      const begun = time.now / 1_000;
      let { token } = tokens.issue(principal());
      for (let i = 0; tokens.read(token) && i < 1_000; i++) {
        time.now += (hour / 2) * 1_000;
        if (!tokens.read(token)) break;
        const bearer = bearerOf(tokens, token);
        const next = i % 2 === 0 ? tokens.renew(bearer) : tokens.issue(bearer);
        if (next) expect(next.exp).to.be.at.most(begun + day);
        token = next?.token ?? token;
      }
      expect(time.now / 1_000).to.equal(begun + day);
    });

    it("are not renewed when a new one would end at the same time", () => {
      const tokens = tokensOf(key, day);
      const { token } = tokens.issue(principal());
      time.now += (day - 1) * 1_000;
      expect(tokens.renew(bearerOf(tokens, token))).to.equal(undefined);
    });

    it("begin a new one only with other credentials than a token", () => {
      const tokens = tokensOf(key, hour);
      const { token } = tokens.issue(principal());
      const { authTime } = tokens.read(token) as Validity;
      time.now += 60_000;
      const refreshed = tokens.issue(bearerOf(tokens, token)).token;
      expect(tokens.read(refreshed)?.authTime).to.equal(authTime);
      expect(tokens.read(tokens.issue(principal()).token)?.authTime).to.equal(authTime + 60);
    });

    it("that has no `auth_time`, from an earlier version, begin when that token was issued", () => {
      const iat = Math.floor(time.now / 1_000);
      const claims = { sub: "vlk_1", sid: "sec_1", iat, nbf: iat, exp: iat + hour };
      const signed = [{ alg: "HS256", typ: "JWT" }, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
        .join(".");
      const old = `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
      const tokens = tokensOf(key, hour);
      expect(tokens.read(old)).to.deep.include({ apiKey: "vlk_1", authTime: iat });
      time.now += (hour - 1) * 1_000;
      const refreshed = tokens.issue(bearerOf(tokens, old));
      expect(tokens.read(refreshed.token)?.authTime).to.equal(iat);
    });
  });
});
