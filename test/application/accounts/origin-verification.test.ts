import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { createOriginVerification } from "../../../src/application/accounts/origin-verification.ts";
import { freePlan } from "../../../src/domain/accounts/plan.ts";
import { websiteStream } from "../../../src/domain/accounts/website.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { duringSuite } from "../../support/during.ts";
import { openAdminServices } from "./admin-fixture.ts";

const origin = "https://shop.example";
const admin = { actor: "admin", requestId: "req-1" };

describe("origin verification over a store", () => {
  const service = duringSuite(openAdminServices);
  let websiteId: string;

  beforeEach(async () => {
    websiteId = (await service.websites.register({ name: "Shop", origins: [], plan: freePlan }, admin)).id;
  });

  /** Another instance: it has its own command handler and shares the store. */
  const anotherInstance = () => {
    const handler = createCommandHandler({ store: service.store });
    return createOriginVerification({
      execute: async (decider, stream, decide, { actor }) =>
        (await handler.execute(decider, stream, decide, { actor })).state,
      websites: { get: () => undefined, entries: () => [].values(), size: 0 }, // its view is behind
      clock: () => service.time.now,
      random: randomBytes,
    });
  };

  it("succeeds once when several instances receive it concurrently", async () => {
    const { token } = await service.originVerification.issue(websiteId, origin, admin);
    const instances = [service.originVerification, anotherInstance(), anotherInstance()];
    const callers = Array.from({ length: 30 }, (_, i) => instances[i % instances.length] ?? instances[0]);
    const outcomes = await Promise.all(callers.map((one) => one?.verify({ token, origin }, "req-2")));
    expect(outcomes.filter((outcome) => outcome?.verified)).to.have.length(1);
    for (const outcome of outcomes) expect(outcome).to.include({ origin });
    const events = await service.read(websiteStream(websiteId));
    expect(events.filter(({ type }) => type === "OriginVerified")).to.have.length(1);
  });

  it("is visible at once to an instance that did not issue the token", async () => {
    const { token } = await service.originVerification.issue(websiteId, origin, admin);
    expect(await anotherInstance().verify({ token, origin }, "req-2")).to.deep.equal({
      verified: true,
      origin,
    });
  });

  it("knows its tokens without a read of the store, used ones included, and no others", async () => {
    const { token } = await service.originVerification.issue(websiteId, origin, admin);
    const { isKnown } = service.originVerification;
    expect(isKnown(token)).to.equal(true);
    await service.originVerification.verify({ token, origin }, "req-2");
    expect(isKnown(token)).to.equal(true);
    for (const wrong of [
      "",
      "vlv_",
      token.replace(/^vlv_.{3}/, "vlv_AAA"),
      token.replace(/web_.{3}/, "web_AAA"),
    ])
      expect(isKnown(wrong), wrong).to.equal(false);
  });

  it("logs the issuer and the request that used it, but not the token", async () => {
    const { token } = await service.originVerification.issue(websiteId, origin, admin);
    await service.originVerification.verify({ token, origin }, "req-2");
    const [issued, verified] = (await service.read(websiteStream(websiteId))).slice(-2);
    expect(issued?.metadata).to.deep.equal({ actor: "admin", correlationId: "req-1" });
    expect(verified?.metadata).to.deep.equal({ actor: "system", correlationId: "req-2" });
    expect(JSON.stringify([issued, verified])).to.not.contain(token.slice(4, 47));
    expect(service.websites.get(websiteId).origins).to.deep.equal([origin]);
  });
});
