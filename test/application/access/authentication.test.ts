import { expect } from "chai";
import type { LiveView } from "../../../projections/runner/view.ts";
import { createAccessTokens, maxSessionSeconds } from "../../../src/application/access/access-tokens.ts";
import {
  type Authenticator,
  type Credentials,
  createAuthenticator,
} from "../../../src/application/access/authentication.ts";
import { hashSecret } from "../../../src/application/access/secrets.ts";
import {
  evolveKey,
  initialKey,
  type Key,
  type KeyEvent,
  keyStream,
} from "../../../src/domain/accounts/key.ts";
import { freePlan } from "../../../src/domain/accounts/plan.ts";
import {
  evolveWebsite,
  initialWebsite,
  type Website,
  websiteStream,
} from "../../../src/domain/accounts/website.ts";
import { Unauthorized } from "../../../src/domain/errors.ts";
import type { AccessPoint } from "../../../src/limits/client-network.ts";
import { limits, RateLimited } from "../../../src/limits/limits.ts";
import { testLimits } from "../../support/test-limits.ts";

const at = "2026-11-21T10:00:00.000Z";

const viewOf = <S>(partitions: Map<string, S>): LiveView<S> => ({
  get: (name) => partitions.get(name),
  entries: () => partitions.entries(),
  size: partitions.size,
  changes: 0,
});

const issued: KeyEvent[] = [
  { type: "KeyIssued", data: { apiKey: "k", websiteId: "w", plan: freePlan, at } },
  { type: "SecretCreated", data: { secretId: "s", hash: hashSecret("right"), at } },
];

const shop = "https://shop.example";
const website = evolveWebsite(initialWebsite(), {
  type: "WebsiteRegistered",
  data: { websiteId: "w", name: "Shop", origins: [shop], at },
});

const right: Credentials = { by: "secret", apiKey: "k", apiSecret: "right" };
const wrong: Record<Credentials["by"], Credentials> = {
  secret: { by: "secret", apiKey: "k", apiSecret: "wrong" },
  token: { by: "token", token: "none", apiKey: undefined, origin: undefined },
  origin: { by: "origin", apiKey: "k", origin: "https://elsewhere.example" },
};

describe("failed authentication", () => {
  const time = { now: Date.parse(at) };
  const accessTokens = createAccessTokens({ key: Buffer.alloc(32), ttlSeconds: 900, clock: () => time.now });
  const authenticatorOf = (shown: Website = website) =>
    createAuthenticator({
      keys: viewOf(new Map<string, Key>([[keyStream("k"), issued.reduce(evolveKey, initialKey())]])),
      websites: viewOf(new Map<string, Website>([[websiteStream("w"), shown]])),
      accessTokens,
      failures: testLimits({}, () => time.now).failures,
    });
  const tokenOf = (secretId: string): Credentials => {
    const proof = { by: "secret", secretId } as const;
    const { token } = accessTokens.issue({ apiKey: "k", proof });
    return { by: "token", token, apiKey: undefined, origin: undefined };
  };

  const exhaust = (authenticate: Authenticator["authenticate"], client: string, at?: AccessPoint) => {
    for (let i = 0; i < limits.failures.atMost; i++)
      expect(() => authenticate(wrong.secret, client, at)).to.throw(Unauthorized);
    expect(() => authenticate(wrong.secret, client, at))
      .to.throw(RateLimited)
      .with.include({ kind: "failures", retryAfterSeconds: 60 });
  };

  it("gets 401, and 429 after too many wrong secrets, until the minute ends", () => {
    const { authenticate } = authenticatorOf();
    exhaust(authenticate, "192.0.2.1");
    expect(() => authenticate(wrong.secret, "192.0.2.2")).to.throw(Unauthorized);
    time.now += 60_000;
    exhaust(authenticate, "192.0.2.1");
  });

  it("never refuses correct credentials, whatever else their address has sent", () => {
    const { authenticate } = authenticatorOf();
    const origin: Credentials = { by: "origin", apiKey: "k", origin: shop };
    exhaust(authenticate, "192.0.2.1");
    exhaust(authenticate, "192.0.2.1", "websocket");
    for (const at of ["website", "websocket"] as const)
      for (const credentials of [right, tokenOf("s"), origin])
        expect(authenticate(credentials, "192.0.2.1", at)).to.include({ apiKey: "k", websiteId: "w" });
  });

  it("is that of every credential of an erased website, even if its key is active", () => {
    const { authenticate: before } = authenticatorOf();
    const principal = before(right, "192.0.2.3");
    const erased = evolveWebsite(website, { type: "WebsiteErased", data: { at } });
    const { authenticate, reauthenticate } = authenticatorOf(erased);
    for (const credentials of [right, tokenOf("s"), { by: "origin", apiKey: "k", origin: shop } as const])
      expect(() => authenticate(credentials, "192.0.2.3")).to.throw(Unauthorized);
    expect(() => reauthenticate(principal)).to.throw(Unauthorized);
  });

  it("is counted separately for WebSockets", () => {
    const { authenticate } = authenticatorOf();
    exhaust(authenticate, "192.0.2.1", "websocket");
    exhaust(authenticate, "192.0.2.1");
  });

  it("is not counted for a token, junk, expired or revoked, nor for a request without a secret", () => {
    const { authenticate } = authenticatorOf();
    const expired = tokenOf("s");
    expect(authenticate(expired, "192.0.2.1")).to.include({ apiKey: "k" });
    time.now += 900_000;
    const junk: Credentials[] = ["junk", "e30.e30.e30", "a.b", "..", ""].map((token) => ({
      by: "token",
      token,
      apiKey: undefined,
      origin: undefined,
    }));
    const none: Credentials = { by: "origin", apiKey: undefined, origin: undefined };
    for (const credentials of [...junk, expired, tokenOf("revoked"), wrong.origin, none]) {
      for (let i = 0; i <= limits.failures.atMost; i++) {
        expect(() => authenticate(credentials, "192.0.2.1")).to.throw(Unauthorized);
      }
    }
    exhaust(authenticate, "192.0.2.1");
  });

  it("of a principal whose token's session has ended cannot be repeated, although its proof is valid", () => {
    const { authenticate, reauthenticate } = authenticatorOf();
    const byToken = authenticate(tokenOf("s"), "192.0.2.1");
    const bySecret = authenticate(right, "192.0.2.1");
    time.now += maxSessionSeconds * 1_000 - 1;
    expect(reauthenticate(byToken)).to.include({ apiKey: "k" });
    time.now += 1;
    expect(() => reauthenticate(byToken)).to.throw(Unauthorized, "session");
    expect(reauthenticate(bySecret)).to.include({ apiKey: "k" });
  });

  const messageOf = (credentials: Credentials): string => {
    try {
      return authenticatorOf().authenticate(credentials, "192.0.2.1").apiKey;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it("has the same error for a known key and an unknown one, in each form", () => {
    expect(messageOf({ ...right, apiKey: "nobody" })).to.equal(messageOf(wrong.secret));
    for (const origin of ["https://elsewhere.example", undefined]) {
      const [known, unknown] = ["k", "nobody"].map((apiKey) => messageOf({ by: "origin", apiKey, origin }));
      expect(known).to.equal(unknown);
    }
  });

  it("names the origin that is not verified", () => {
    expect(messageOf(wrong.origin)).to.equal(
      "The API key is wrong, or https://elsewhere.example is not a verified origin of its website.",
    );
  });

  it("says what a key without a secret needs", () => {
    expect(messageOf({ by: "origin", apiKey: "k", origin: undefined })).to.equal(
      "The API key needs its secret, or a request from a verified origin.",
    );
  });

  it("tells a token that has expired from one that has the wrong form", () => {
    expect(messageOf(tokenOf("revoked"))).to.equal(
      "The access token is wrong, has expired or was withdrawn.",
    );
    expect(messageOf(wrong.token)).to.equal("The token is neither API_KEY.API_SECRET nor an access token.");
  });
});
