import { expect } from "chai";
import {
  changePlan,
  createSecret,
  evolveKey,
  initialKey,
  issueKey,
  type KeyEvent,
  maxSecrets,
  reinstateKey,
  revokeSecret,
  suspendKey,
} from "../../../src/domain/accounts/key.ts";
import { freePlan, planOf } from "../../../src/domain/accounts/plan.ts";
import { Conflict, NotFound } from "../../../src/domain/errors.ts";

const at = "2026-03-01T12:00:00.000Z";
const later = "2026-03-02T12:00:00.000Z";
const issuance = { apiKey: "vlk_1", websiteId: "web_1", plan: freePlan, at };
const issued: KeyEvent = { type: "KeyIssued", data: issuance };
const secret = (n: number): KeyEvent => ({
  type: "SecretCreated",
  data: { secretId: `sec_${n}`, hash: `${n}`.repeat(64), at },
});
const suspended = (cause: "quota" | "operator"): KeyEvent => ({
  type: "KeySuspended",
  data: { cause, reason: "because", at },
});
const reinstated: KeyEvent = { type: "KeyReinstated", data: { reason: "paid", at: later } };
const larger = { tier: "enterprise" as const, requestsPerMinute: 100, monthlyCharacters: 2_000_000 };
const smaller = { ...larger, monthlyCharacters: 500_000 };

const given = (...events: KeyEvent[]) => events.reduce(evolveKey, initialKey());

describe("a key", () => {
  it("is issued to a website, active, with a plan and no secret", () => {
    expect(issueKey(given(), issuance)).to.deep.equal([issued]);
    expect(given(issued)).to.deep.equal({
      status: "active",
      apiKey: "vlk_1",
      websiteId: "web_1",
      plan: freePlan,
      secrets: [],
      issuedAt: at,
    });
  });

  it("cannot be issued twice", () => {
    expect(() => issueKey(given(issued), issuance)).to.throw(Conflict);
  });

  it("refuses every command before it is issued", () => {
    const absent = given();
    expect(() => createSecret(absent, { secretId: "sec_1", hash: "", at })).to.throw(NotFound);
    expect(() => revokeSecret(absent, { secretId: "sec_1", at })).to.throw(NotFound);
    expect(() => changePlan(absent, { plan: planOf("commercial"), at })).to.throw(NotFound);
    expect(() => suspendKey(absent, { cause: "operator", reason: "", at })).to.throw(NotFound);
    expect(() => reinstateKey(absent, { reason: "", at })).to.throw(NotFound);
  });

  it("stays absent on events that precede its issuance", () => {
    expect(given(secret(1), suspended("quota"))).to.deep.equal(initialKey());
  });

  it("does not change on an event of an unknown type", () => {
    const unknown = { type: "KeyRenamed", data: {} } as unknown as KeyEvent;
    expect(given(issued, unknown)).to.deep.equal(given(issued));
  });
});

describe("a key's secret", () => {
  it("is stored only as a hash", () => {
    const events = createSecret(given(issued), { secretId: "sec_1", hash: "1".repeat(64), at });
    expect(events).to.deep.equal([secret(1)]);
    expect(given(issued, secret(1))).to.deep.include({
      secrets: [{ secretId: "sec_1", hash: "1".repeat(64), createdAt: at }],
    });
  });

  it("can be created for a suspended key", () => {
    const key = given(issued, suspended("operator"));
    expect(createSecret(key, { secretId: "sec_1", hash: "1".repeat(64), at })).to.deep.equal([secret(1)]);
  });

  it("is one of at most ten that are valid at once", () => {
    const full = Array.from({ length: maxSecrets }, (_, n) => secret(n));
    const another = { secretId: "sec_x", hash: "", at };
    expect(() => createSecret(given(issued, ...full), another)).to.throw(Conflict, "10");
    const revoked: KeyEvent = { type: "SecretRevoked", data: { secretId: "sec_3", at } };
    expect(createSecret(given(issued, ...full, revoked), another)).to.have.length(1);
  });

  it("is revoked without affecting the other secrets", () => {
    const key = given(issued, secret(1), secret(2));
    const events = revokeSecret(key, { secretId: "sec_1", at: later });
    expect(events).to.deep.equal([{ type: "SecretRevoked", data: { secretId: "sec_1", at: later } }]);
    const left = events.reduce(evolveKey, key);
    expect(left.status === "active" && left.secrets.map(({ secretId }) => secretId)).to.deep.equal(["sec_2"]);
  });

  it("cannot be revoked twice", () => {
    const key = given(issued, secret(1), { type: "SecretRevoked", data: { secretId: "sec_1", at } });
    expect(() => revokeSecret(key, { secretId: "sec_1", at })).to.throw(NotFound, "sec_1");
  });

  it("stays valid through suspension, reinstatement and a change of plan", () => {
    const changed: KeyEvent = { type: "PlanChanged", data: { plan: larger, at } };
    expect(given(issued, secret(1), suspended("operator"), changed, reinstated)).to.deep.equal({
      ...given(issued, secret(1)),
      plan: larger,
    });
  });
});

describe("a key's plan", () => {
  it("can be changed", () => {
    const events = changePlan(given(issued), { plan: planOf("commercial"), at: later });
    expect(events).to.deep.equal([{ type: "PlanChanged", data: { plan: planOf("commercial"), at: later } }]);
    expect(given(issued, ...events)).to.deep.include({ plan: planOf("commercial"), status: "active" });
  });

  it("produces no event when it is set to the same plan", () => {
    expect(changePlan(given(issued), { plan: { ...freePlan }, at })).to.deep.equal([]);
  });

  it("ends a suspension by quota when its monthly characters increase", () => {
    for (const plan of [larger, planOf("commercial")]) {
      const events = changePlan(given(issued, suspended("quota")), { plan, at: later });
      expect(events.map(({ type }) => type)).to.deep.equal(["PlanChanged", "KeyReinstated"]);
      expect(given(issued, suspended("quota"), ...events)).to.deep.include({ status: "active", plan });
    }
  });

  it("does not end a suspension by quota when its monthly characters do not increase", () => {
    const faster = { ...larger, monthlyCharacters: freePlan.monthlyCharacters };
    for (const plan of [smaller, faster]) {
      const events = changePlan(given(issued, suspended("quota")), { plan, at: later });
      expect(events.map(({ type }) => type)).to.deep.equal(["PlanChanged"]);
    }
  });

  it("does not end a suspension by an operator when it changes", () => {
    const events = changePlan(given(issued, suspended("operator")), {
      plan: planOf("commercial"),
      at: later,
    });
    expect(events.map(({ type }) => type)).to.deep.equal(["PlanChanged"]);
  });
});

describe("a key's suspension", () => {
  const byOperator = { cause: "operator", reason: "abuse", at: later } as const;
  const byQuota = { cause: "quota", quota: 1_000_000, reason: "over quota", at: later } as const;

  it("records its cause, reason and time", () => {
    const events = suspendKey(given(issued), byOperator);
    expect(events).to.deep.equal([
      { type: "KeySuspended", data: { cause: "operator", reason: "abuse", at: later } },
    ]);
    expect(given(issued, ...events)).to.deep.include({
      status: "suspended",
      cause: "operator",
      reason: "abuse",
      suspendedAt: later,
    });
  });

  it("by an operator replaces a suspension by quota", () => {
    expect(suspendKey(given(issued, suspended("quota")), byOperator)).to.have.length(1);
  });

  it("by quota does not replace an existing suspension", () => {
    for (const cause of ["quota", "operator"] as const) {
      expect(suspendKey(given(issued, suspended(cause)), byQuota)).to.deep.equal([]);
    }
  });

  it("by an operator is idempotent", () => {
    expect(suspendKey(given(issued, suspended("operator")), byOperator)).to.deep.equal([]);
  });

  it("by quota happens if the exceeded quota is still the plan's", () => {
    expect(suspendKey(given(issued), byQuota)).to.deep.equal([
      { type: "KeySuspended", data: { cause: "quota", reason: "over quota", at: later } },
    ]);
  });

  it("by quota does not happen if the quota was raised meanwhile", () => {
    for (const plan of [larger, planOf("commercial")]) {
      const raised: KeyEvent = { type: "PlanChanged", data: { plan, at } };
      expect(suspendKey(given(issued, raised), byQuota)).to.deep.equal([]);
    }
  });

  it("by quota happens if the quota was lowered meanwhile", () => {
    const lowered: KeyEvent = { type: "PlanChanged", data: { plan: smaller, at } };
    expect(suspendKey(given(issued, lowered), byQuota)).to.have.length(1);
  });

  it("ends with a reinstatement, for either cause", () => {
    for (const cause of ["quota", "operator"] as const) {
      const events = reinstateKey(given(issued, suspended(cause)), { reason: "paid", at: later });
      expect(events).to.deep.equal([reinstated]);
      expect(given(issued, suspended(cause), ...events)).to.deep.equal(given(issued));
    }
  });

  it("is required: a reinstatement without one produces no event", () => {
    expect(reinstateKey(given(issued), { reason: "paid", at })).to.deep.equal([]);
  });
});
