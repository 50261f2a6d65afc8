import { expect } from "chai";
import type { Health } from "../../../src/application/health/health.ts";
import { createReadiness } from "../../../src/application/health/readiness.ts";

describe("readiness", () => {
  const time = { now: 0 };
  let health: Health;
  const readiness = () => createReadiness({ checkHealth: async () => health, clock: () => time.now });
  const store = (status: "ok" | "down"): Health => ({
    status: status === "ok" ? "ok" : "degraded",
    parts: { audioStore: { status, ...(status === "down" && { detail: "no response in time" }) } },
  });

  beforeEach(() => {
    time.now = Date.parse("2026-11-21T08:00:00.000Z");
    health = store("ok");
  });

  it("reports for each dependency the time of its last change", async () => {
    const { check } = readiness();
    await check();
    time.now += 1_000;
    expect(await check()).to.deep.equal({
      status: "ok",
      dependencies: [{ name: "audioStore", status: "ok", since: "2026-11-21T08:00:00.000Z" }],
    });
    health = store("down");
    await check();
    time.now += 1_000;
    expect(await check()).to.deep.equal({
      status: "degraded",
      dependencies: [
        {
          name: "audioStore",
          status: "down",
          detail: "no response in time",
          since: "2026-11-21T08:00:01.000Z",
        },
      ],
    });
  });

  it("is draining after drain(), even if all dependencies are ok", async () => {
    const { check, drain } = readiness();
    drain();
    expect((await check()).status).to.equal("draining");
  });
});
