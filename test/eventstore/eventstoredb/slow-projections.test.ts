import { expect } from "chai";
import { userProjections } from "../../../projections/eventstoredb/user-projections.ts";
import { installUserProjections } from "../../../src/application/user-projections/install.ts";
import { isComplete } from "../../../src/application/user-projections/statuses.ts";
import { catalogStream, initialCatalog, seedCatalog } from "../../../src/domain/catalog/catalog.ts";
import { releaseSeed } from "../../../src/domain/catalog/seed/seed.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { uuidv7 } from "../../../src/eventstore/uuid.ts";
import { runCli } from "../../support/cli-process.ts";
import { createSkippingTime } from "../../support/manual-time.ts";
import { projectionsNode } from "./projections-node.ts";

const at = "2026-11-28T10:00:00.000Z";
const script = "fromAll().partitionBy(function (e) { return e.streamId; }).when({});";
const wanted = [{ name: "voxledger-x-v2", family: "voxledger-x-v", query: script }];

describe("server-side projections on a busy machine", () => {
  const started = projectionsNode();
  const { start } = started;

  const install = (given = wanted) =>
    installUserProjections(started.server, given, { time: createSkippingTime(), waitMs: 20_000 });

  const append = async (stream: string, events: readonly { type: string; data: object }[]): Promise<void> => {
    const store = await openEventStoreDB({ url: started.node.url, appendTimeoutMs: 15_000 });
    const identified = events.map((event) => ({ ...event, id: uuidv7(Date.now()), metadata: {} }));
    await store.append(stream, identified, "any");
    await store.close();
  };
  const happened = (count: number) =>
    Array.from({ length: count }, () => ({ type: "SomethingHappened", data: {} }));

  for (const [server, reportsUncompiled] of [
    ["before 24.6", false],
    ["of today", true],
  ] as const) {
    it(`are compiled again until the time suffices, by a server ${server}`, async () => {
      await start({ reportsUncompiled });
      started.node.faults.slowProjections({ compileMs: 503, times: 8 });
      const [installed] = await install();
      expect(installed).to.include({ done: "created", state: "running", progress: 100 });
      expect(installed).not.to.have.property("reason");
    });
  }

  it("are reported with the limit that they exceed, and with no other cause", async () => {
    await start({ reportsUncompiled: true });
    started.node.faults.slowProjections({ compileMs: 631 });
    const [uncompiled] = await install();
    expect(uncompiled).to.include({ done: "created", state: "faulted" });
    expect(uncompiled?.reason).to.match(
      /took too long to compile .*: raise .* ProjectionCompilationTimeout$/,
    );
    started.node.faults.slowProjections({ handleMs: 354 });
    await append("s", happened(1));
    const [faulted] = await install();
    expect(faulted).to.include({ done: "updated", state: "faulted" });
    expect(faulted?.reason).to.match(/took too long to execute .*: raise .* ProjectionExecutionTimeout$/);
  });

  it("continue where a handler was too slow", async () => {
    await start();
    await append("s", happened(40));
    started.node.faults.slowProjections({ handleMs: 251, times: 5 });
    const [installed] = await install();
    expect(installed).to.include({ done: "created", state: "running", progress: 100 });
  });

  it("are waited for until they have read the log", async () => {
    await start();
    await append("s", happened(40));
    started.node.faults.paceProjections(3);
    const [installed] = await install();
    expect(installed).to.include({ state: "running", progress: 100 });
  });

  it("that do not read the log in time are not complete, and their earlier versions stay", async () => {
    await start();
    await append("s", happened(4));
    await started.server.create("voxledger-x-v1", script);
    started.node.faults.paceProjections(0);
    const installed = await install();
    expect(installed).to.have.length(1);
    expect(installed[0]).to.include({ name: "voxledger-x-v2", state: "running" });
    expect(installed.some(isComplete)).to.equal(false);
    expect(await started.server.find("voxledger-x-v1")).to.include({ state: "running" });
  });

  it("are installed although the responses to changes are lost", async () => {
    await start();
    await started.server.create("voxledger-x-v1", script);
    started.node.faults.loseProjectionResponses(3);
    const installed = await install();
    expect(installed.map(({ name, state }) => `${name} ${state}`)).to.deep.equal([
      "voxledger-x-v2 running",
      "voxledger-x-v1 absent",
    ]);
  });

  it("are installed by several processes at the same time", async () => {
    await start();
    await started.server.create("voxledger-x-v1", script);
    const installed = await Promise.all([install(), install(), install()]);
    for (const [one] of installed) expect(one).to.include({ state: "running", progress: 100 });
    expect(await started.server.find("voxledger-x-v1")).to.equal(undefined);
  });

  it("write little while they read the voices of a release: the server writes whole states", async () => {
    await start();
    const seed = seedCatalog(initialCatalog(), releaseSeed(), at);
    await append(catalogStream, seed);
    const [catalog] = await userProjections();
    await install(catalog ? [catalog] : []);
    expect(seed.length).to.be.greaterThan(1_000);
    expect(started.node.faults.stateBytesWritten).to.be.within(100_000, 1_000_000);
  });

  it("have a status: 0 if all have read the log, 2 while one reads, 1 if one does not run", async () => {
    await start();
    const status = async (...args: string[]) => {
      const { exitCode, stdout, stderr } = await runCli(["projections", "status", ...args], {
        EVENT_STORE: started.node.url,
      });
      return { exitCode, stdout, stderr };
    };
    const absent = await status();
    expect(absent.exitCode).to.equal(1);
    expect(absent.stderr).to.match(/^error: not running: voxledger-catalog-v3 \(absent\), /);
    const all = await userProjections();
    await install(all);
    const complete = await status();
    expect(complete).to.include({ exitCode: 0, stderr: "" });
    expect(complete.stdout).to.match(/^NAME +STATE +READ +WHY\nvoxledger-catalog-v3 +running +100 %\n/);
    started.node.faults.paceProjections(0);
    await append("s", happened(1));
    const behind = await status("--json");
    expect(behind).to.include({ exitCode: 2, stderr: "" });
    expect(JSON.parse(behind.stdout)[0]).to.include({ state: "running", progress: 0 });
    started.node.faults.paceProjections(1);
    started.node.faults.slowProjections({ handleMs: 300, times: 1 });
    const faulted = await status();
    expect(faulted.exitCode).to.equal(1);
    expect(faulted.stdout).to.contain("took too long to execute");
    expect(faulted.stderr).to.equal("error: not running: voxledger-catalog-v3 (faulted)\n");
  });
});
