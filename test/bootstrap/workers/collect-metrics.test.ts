import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { createMetricsCollection } from "../../../src/bootstrap/workers/collect-metrics.ts";
import { until } from "../../support/manual-time.ts";

const counted = (value: number): string => `# TYPE requests_total counter\nrequests_total ${value}\n`;

describe("the metrics of all workers", () => {
  let metrics: ReturnType<typeof createMetricsCollection>;
  let listener: Awaited<ReturnType<typeof metrics.listen>>;

  beforeEach(async () => {
    metrics = createMetricsCollection();
    listener = await metrics.listen({ host: "127.0.0.1", port: 0 });
  });
  afterEach(() => listener.close());

  const total = async (): Promise<number> => {
    const text = await (await fetch(listener.url)).text();
    return Number(/^requests_total (\d+)$/m.exec(text)?.[1]);
  };

  it("say that the service starts until a worker listens", async () => {
    const text = async (): Promise<string> => (await fetch(listener.url)).text();
    expect(await text()).to.include("\nvoxledger_starting 1\n");
    metrics.add(async () => counted(1));
    expect(await text()).to.not.include("voxledger_starting");
  });

  it("keep the last known counts of a worker that does not respond, and of those that have ended", async () => {
    let isFrozen = false;
    const one = async (): Promise<string> => {
      if (isFrozen) throw new Error("no response");
      return counted(5);
    };
    metrics.add(one);
    metrics.add(async () => counted(2));
    expect(await total()).to.equal(7);
    isFrozen = true;
    expect(await total()).to.equal(7);
    metrics.remove(one);
    expect(await total()).to.equal(7);
  });

  it("count a worker once that ends while another one has not responded yet", async () => {
    const slow = Promise.withResolvers<string>();
    let isAsked = false;
    const ending = async (): Promise<string> => counted(5);
    metrics.add(ending);
    metrics.add(() => {
      isAsked = true;
      return slow.promise;
    });
    const collected = total();
    await until(() => isAsked);
    await setImmediate(); // the first one has responded
    metrics.remove(ending, counted(6));
    slow.resolve(counted(2));
    expect(await collected).to.equal(8);
  });
});
