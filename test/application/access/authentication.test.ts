import { expect } from "chai";
import type { LiveView } from "../../../projections/runner/view.ts";
import { createAccessTokens } from "../../../src/application/access/access-tokens.ts";
import { type Credentials, createAuthenticator } from "../../../src/application/access/authentication.ts";
import {
  createFailedAttempts,
  maxFailuresPerMinute,
} from "../../../src/application/access/failed-attempts.ts";
import { hashSecret } from "../../../src/application/access/secrets.ts";
import {
  evolveKey,
  initialKey,
  type Key,
  type KeyEvent,
  keyStream,
} from "../../../src/domain/accounts/key.ts";
import { freePlan } from "../../../src/domain/accounts/plan.ts";
import type { Website } from "../../../src/domain/accounts/website.ts";
import { RateLimited, Unauthorized } from "../../../src/domain/errors.ts";

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

const right: Credentials = { by: "secret", apiKey: "k", apiSecret: "right" };
const wrong: Record<Credentials["by"], Credentials> = {
  secret: { by: "secret", apiKey: "k", apiSecret: "wrong" },
  token: { by: "token", token: "none", apiKey: undefined, origin: undefined },
  origin: { by: "origin", apiKey: "k", origin: "https://elsewhere.example" },
};

describe("failed authentication", () => {
  const time = { now: Date.parse(at) };
  const accessTokens = createAccessTokens({ key: Buffer.alloc(32), ttlSeconds: 900, clock: () => time.now });
  const authenticatorOf = () =>
    createAuthenticator({
      keys: viewOf(new Map<string, Key>([[keyStream("k"), issued.reduce(evolveKey, initialKey())]])),
      websites: viewOf(new Map<string, Website>()),
      accessTokens,
      failedAttempts: createFailedAttempts({ clock: () => time.now }),
    });
  const tokenOf = (secretId: string): Credentials => {
    const proof = { by: "secret", secretId } as const;
    const { token } = accessTokens.issue({ apiKey: "k", proof });
    return { by: "token", token, apiKey: undefined, origin: undefined };
  };

  it("returns 401, and after too many attempts refuses valid credentials too until the minute ends", () => {
    const { authenticate } = authenticatorOf();
    const guesses = [wrong.secret, wrong.token];
    for (let i = 0; i < maxFailuresPerMinute; i++) {
      expect(() => authenticate(guesses[i % 2] as Credentials, "192.0.2.1")).to.throw(Unauthorized);
    }
    for (const credentials of [right, ...Object.values(wrong)]) {
      expect(() => authenticate(credentials, "192.0.2.1"))
        .to.throw(RateLimited)
        .with.include({ kind: "failures", retryAfterSeconds: 60 });
    }
    expect(authenticate(right, "192.0.2.2")).to.include({ apiKey: "k", websiteId: "w" });
    time.now += 60_000;
    expect(authenticate(right, "192.0.2.1")).to.include({ apiKey: "k", websiteId: "w" });
  });

  it("is not counted for an expired or revoked token or a request without a secret", () => {
    const { authenticate } = authenticatorOf();
    const expired = tokenOf("s");
    expect(authenticate(expired, "192.0.2.1")).to.include({ apiKey: "k" });
    time.now += 900_000;
    const none: Credentials = { by: "origin", apiKey: undefined, origin: undefined };
    for (const credentials of [expired, tokenOf("revoked"), wrong.origin, none]) {
      for (let i = 0; i <= maxFailuresPerMinute; i++) {
        expect(() => authenticate(credentials, "192.0.2.1")).to.throw(Unauthorized);
      }
    }
    expect(authenticate(right, "192.0.2.1")).to.include({ apiKey: "k" });
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
