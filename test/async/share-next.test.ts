import { expect } from "chai";
import { shareNext } from "../../src/async/share-next.ts";

describe("a task whose next run is shared", () => {
  it("runs once for those that call before it begins, and once more for those that call later", async () => {
    const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    let runs = 0;
    const share = shareNext(() => gates[runs++]?.promise ?? Promise.resolve("third"));
    const early = [share(), share()];
    await Promise.resolve();
    await Promise.resolve();
    expect(runs).to.equal(1);
    const late = [share(), share()];
    gates[0]?.resolve("first");
    gates[1]?.resolve("second");
    expect(await Promise.all([...early, ...late])).to.deep.equal(["first", "first", "second", "second"]);
    expect(await share()).to.equal("third");
  });

  it("runs again after a failure, which only its callers get", async () => {
    let runs = 0;
    const share = shareNext(() => (++runs === 1 ? Promise.reject(new Error("no")) : Promise.resolve(runs)));
    const failed = share().catch(String);
    expect(await failed).to.equal("Error: no");
    expect(await share()).to.equal(2);
  });
});
