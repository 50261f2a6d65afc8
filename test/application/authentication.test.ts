import { expect } from "chai";
import type { View } from "../../projections/runner.ts";
import { createAccessTokens } from "../../src/application/access-tokens.ts";
import { type Credentials, createAuthenticator } from "../../src/application/authentication.ts";
import { createFailedAttempts, maxFailuresPerMinute } from "../../src/application/failed-attempts.ts";
import { hashSecret } from "../../src/application/secrets.ts";
import { RateLimited, Unauthorized } from "../../src/domain/errors.ts";
import { evolveKey, initialKey, type Key, type KeyEvent, keyStream } from "../../src/domain/key.ts";
import { freePlan } from "../../src/domain/plan.ts";
import type { Website } from "../../src/domain/website.ts";

const at = "2026-11-21T10:00:00.000Z";

const viewOf = <S>(partitions: Map<string, S>): View<S> => ({
  get: (name) => partitions.get(name),
  entries: () => partitions.entries(),
  size: partitions.size,
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
  const authenticatorOf = () =>
    createAuthenticator({
      keys: viewOf(new Map<string, Key>([[keyStream("k"), issued.reduce(evolveKey, initialKey())]])),
      websites: viewOf(new Map<string, Website>()),
      accessTokens: createAccessTokens({ key: Buffer.alloc(32), ttlSeconds: 900, clock: () => time.now }),
      failedAttempts: createFailedAttempts({ clock: () => time.now }),
    });

  it("is refused as such, and after too many as too many, until the minute is over", () => {
    const { authenticate } = authenticatorOf();
    for (let i = 0; i < maxFailuresPerMinute; i++) {
      expect(() => authenticate(wrong.secret, "192.0.2.1")).to.throw(Unauthorized);
    }
    expect(() => authenticate(wrong.secret, "192.0.2.1"))
      .to.throw(RateLimited)
      .with.include({ kind: "failures", retryAfterSeconds: 60 });
    time.now += 60_000;
    expect(() => authenticate(wrong.secret, "192.0.2.1")).to.throw(Unauthorized);
  });

  it("is counted together, whatever form the credentials have", () => {
    const { authenticate } = authenticatorOf();
    const forms = Object.values(wrong);
    for (let i = 0; i < maxFailuresPerMinute; i++) {
      expect(() => authenticate(forms[i % forms.length] as Credentials, "192.0.2.1")).to.throw(Unauthorized);
    }
    for (const form of forms) expect(() => authenticate(form, "192.0.2.1")).to.throw(RateLimited);
  });

  it("keeps nobody out who comes with the right credentials, nor from another address", () => {
    const { authenticate } = authenticatorOf();
    for (let i = 0; i <= maxFailuresPerMinute; i++) {
      expect(() => authenticate(wrong.secret, "192.0.2.1")).to.throw();
    }
    expect(authenticate(right, "192.0.2.1")).to.include({ apiKey: "k", websiteId: "w" });
    expect(() => authenticate(wrong.secret, "192.0.2.2")).to.throw(Unauthorized);
  });

  it("tells the same of a wrong secret and of a key that is not there", () => {
    const { authenticate } = authenticatorOf();
    const messageOf = (credentials: Credentials): string => {
      try {
        return authenticate(credentials, "192.0.2.1").apiKey;
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(messageOf({ ...right, apiKey: "nobody" })).to.equal(messageOf(wrong.secret));
  });
});
