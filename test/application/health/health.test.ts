import { expect } from "chai";
import { type Check, createHealth } from "../../../src/application/health/health.ts";

const ok = async (): Promise<void> => {};
const failing = async (_?: unknown): Promise<void> => {
  throw new Error("it is broken");
};
const check = (name: string, critical: boolean, probe: Check["probe"]): Check => ({ name, critical, probe });

describe("health", () => {
  it("is ok when every dependency is", async () => {
    const health = await createHealth({ checks: [check("store", true, ok), check("engines", true, ok)] })();
    expect(health).to.deep.equal({
      status: "ok",
      parts: { store: { status: "ok" }, engines: { status: "ok" } },
    });
  });

  it("is degraded without a non-critical dependency, with the reason", async () => {
    const health = await createHealth({
      checks: [check("store", true, ok), check("audio", false, failing)],
    })();
    expect(health.status).to.equal("degraded");
    expect(health.parts.audio).to.deep.equal({ status: "down", detail: "it is broken" });
  });

  it("is down without a critical dependency", async () => {
    const checks = [
      check("audio", false, failing),
      check("store", true, failing),
      check("engines", true, ok),
    ];
    expect((await createHealth({ checks })()).status).to.equal("down");
  });

  it("reports a dependency as down after the timeout", async () => {
    const checks = [check("store", true, () => new Promise(() => {}))];
    const { parts } = await createHealth({ checks, timeoutMs: 5 })();
    expect(parts.store).to.deep.equal({ status: "down", detail: "no response in time" });
  });

  describe("cached checks", () => {
    const time = { now: 0 };
    const counting = (look: Check["probe"] = ok) => {
      const looks = { count: 0 };
      const checkHealth = createHealth({
        checks: [
          check("store", true, () => {
            looks.count += 1;
            return look();
          }),
        ],
        time: { now: () => time.now },
      });
      return { looks, checkHealth };
    };

    it("reuses a successful probe for its cache time, but never a failed one", async () => {
      const looks = { well: 0, ill: 0 };
      const checkHealth = createHealth({
        checks: [
          { name: "bucket", critical: false, cacheMs: 5_000, probe: async () => void looks.well++ },
          { ...check("broken", false, () => failing(void looks.ill++)), cacheMs: 5_000 },
        ],
        time: { now: () => time.now },
      });
      for (const later of [0, 1_000, 3_000, 999, 501]) {
        time.now += later;
        await checkHealth();
      }
      expect(looks).to.deep.equal({ well: 2, ill: 5 });
    });

    it("shares one run of the probes among concurrent callers", async () => {
      const response = Promise.withResolvers<void>();
      const { looks, checkHealth } = counting(() => response.promise);
      const first = checkHealth();
      time.now += 1_000;
      const second = checkHealth();
      response.resolve();
      expect(await first).to.equal(await second);
      expect(looks.count).to.equal(1);
    });

    it("probes again after the reuse time", async () => {
      const { looks, checkHealth } = counting();
      await checkHealth();
      time.now += 499;
      await checkHealth();
      expect(looks.count).to.equal(1);
      time.now += 1;
      await checkHealth();
      expect(looks.count).to.equal(2);
    });
  });
});
