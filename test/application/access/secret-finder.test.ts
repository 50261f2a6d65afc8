import { expect } from "chai";
import { keys } from "../../../projections/keys.ts";
import { createProjectionRunner, type ProjectionRunner } from "../../../projections/runner/runner.ts";
import { createSecretFinder, type FindBySecret } from "../../../src/application/access/secret-finder.ts";
import { hashSecret } from "../../../src/application/access/secrets.ts";
import { type KeyEvent, keyStream } from "../../../src/domain/accounts/key.ts";
import { freePlan, planOf } from "../../../src/domain/accounts/plan.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { uuidv7 } from "../../../src/eventstore/uuid.ts";
import { duringTest } from "../../support/during.ts";
import { testPrincipal } from "../../support/principal.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

const at = "2026-11-21T10:00:00.000Z";

describe("the principal of a secret", () => {
  const temporary = duringTest(openTemporaryStore);
  let store: EventStore;
  let runner: ProjectionRunner;
  let find: FindBySecret;
  let now: number;

  const append = async (apiKey: string, ...events: KeyEvent[]): Promise<void> => {
    const recorded = events.map((event) => ({ ...event, id: uuidv7(Date.now()), metadata: {} }));
    const { position } = await store.append(keyStream(apiKey), recorded, "any");
    await runner.waitForPosition(position);
  };
  const issue = (apiKey: string, secret: string) =>
    append(
      apiKey,
      { type: "KeyIssued", data: { apiKey, websiteId: "w", plan: freePlan, at } },
      { type: "SecretCreated", data: { secretId: "first", hash: hashSecret(secret), at } },
    );

  beforeEach(async () => {
    now = 0;
    store = temporary.store;
    runner = createProjectionRunner({ store, projections: [keys], time: { now: () => now } });
    await runner.start();
    find = createSecretFinder(runner.view(keys));
    await issue("k", "right");
    await issue("other", "also right");
    const proof = { by: "secret", secretId: "first" };
    expect(find("k", "right")).to.deep.equal({ ...testPrincipal({ plan: freePlan }), proof });
  });
  afterEach(async () => {
    await runner.close();
  });

  it("is undefined for a wrong secret, an unknown key, and another key's secret, whatever was presented before", () => {
    expect(find("other", "also right")).to.include({ apiKey: "other" });
    for (const [apiKey, secret] of [
      ["k", "wrong"],
      ["unknown", "right"],
      ["other", "right"],
      ["k", "also right"],
    ] as const)
      expect(find(apiKey, secret)).to.equal(undefined);
    expect(find("k", "right")).to.include({ apiKey: "k" });
  });

  it("is the same object until the key changes, also when other keys change", async () => {
    const before = find("k", "right");
    expect(find("k", "right")).to.equal(before);
    await append("other", { type: "PlanChanged", data: { plan: planOf("commercial"), at } });
    expect(find("k", "right")).to.equal(before);
  });

  it("is forgotten when more secrets are presented than may be remembered", () => {
    find = createSecretFinder(runner.view(keys), 1);
    const before = find("k", "right");
    expect(find("k", "right")).to.equal(before);
    expect(find("other", "also right")).to.include({ apiKey: "other" });
    const after = find("k", "right");
    expect(after).to.deep.equal(before);
    expect(after).to.not.equal(before);
  });

  it("follows the plan and the suspension of its key", async () => {
    await append("k", { type: "PlanChanged", data: { plan: planOf("commercial"), at } });
    expect(find("k", "right")?.plan).to.deep.equal(planOf("commercial"));
    await append("k", { type: "KeySuspended", data: { cause: "operator", reason: "unpaid", at } });
    expect(find("k", "right")?.suspension).to.deep.equal({ cause: "operator", reason: "unpaid" });
    await append("k", { type: "KeyReinstated", data: { reason: "paid", at } });
    expect(find("k", "right")).to.not.have.property("suspension");
  });

  it("is undefined once the secret is revoked, and names the secret that was presented", async () => {
    await append("k", {
      type: "SecretCreated",
      data: { secretId: "second", hash: hashSecret("new"), at },
    });
    expect(find("k", "new")?.proof).to.deep.equal({ by: "secret", secretId: "second" });
    await append("k", { type: "SecretRevoked", data: { secretId: "first", at } });
    expect(find("k", "right")).to.equal(undefined);
    expect(find("k", "new")?.proof).to.deep.equal({ by: "secret", secretId: "second" });
  });

  it("is refused while the view of the keys is out of date, although the secret was presented before", () => {
    runner.noteAppended(keyStream("k"), Number.MAX_SAFE_INTEGER);
    now += 60_000;
    expect(() => find("k", "right")).to.throw(Unavailable);
  });
});
