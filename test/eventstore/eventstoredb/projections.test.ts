import { EventStoreDBClient, jsonEvent } from "@eventstore/db-client";
import { expect } from "chai";
import { monthlyQuota } from "../../../projections/monthly-quota.ts";
import { createProjectionRunner } from "../../../projections/runner/runner.ts";
import { installUserProjections } from "../../../src/application/user-projections/install.ts";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { uuidv7 } from "../../../src/eventstore/uuid.ts";
import { runCli } from "../../support/cli-process.ts";
import { rejection } from "../../support/rejection.ts";
import { usagePosted } from "../../support/usage-account-events.ts";
import { projectionsNode } from "./projections-node.ts";

const names = ["voxledger-catalog-v3", "voxledger-monthly-quota-v4", "voxledger-rate-v2"];
const atOnce = { attempts: 1, pollMs: 0 };

describe("server-side projections", () => {
  const started = projectionsNode();
  const { start } = started;

  const voxledger = (...args: string[]) => runCli(args, { EVENT_STORE: started.node.url });

  const found = (names: readonly string[]) => Promise.all(names.map((name) => started.server.find(name)));

  /** An event of another application's. */
  const appendForeign = async (stream: string, data: string): Promise<void> => {
    const client = EventStoreDBClient.connectionString(started.node.url);
    const foreign = { ...jsonEvent({ type: "Foreign", data: {} }), data: JSON.parse(data) };
    await client.appendToStream(stream, foreign);
    await client.dispose();
  };

  const install = async () => {
    const { exitCode, stdout, stderr } = await voxledger("projections", "install", "--json");
    expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
    return JSON.parse(stdout);
  };

  it("are created by `projections install`, and updated when it runs again", async () => {
    await start();
    const running = (done: string) => names.map((name) => ({ name, done, state: "running", progress: 100 }));
    expect(await install()).to.deep.equal(running("created"));
    expect(await install()).to.deep.equal(running("updated"));
    expect(await found(names)).to.deep.equal(
      names.map((name) => ({ name, state: "running", progress: 100 })),
    );
  });

  it("run again after they were stopped", async () => {
    await start();
    await install();
    await started.server.disable("voxledger-rate-v2");
    await install();
    expect((await found(names)).map((one) => one?.state)).to.deep.equal(["running", "running", "running"]);
  });

  it("have the same state as the service's view", async () => {
    await start();
    await install();
    const store = await openEventStoreDB({ url: started.node.url });
    const client = EventStoreDBClient.connectionString(started.node.url);
    try {
      for (const characters of [7, 0, 35]) {
        const event = { ...usagePosted({ characters }), metadata: {} };
        await store.append("usage-k1-2026-11", [{ id: uuidv7(Date.now()), ...event }], "any");
      }
      const runner = createProjectionRunner({ store, projections: [monthlyQuota] });
      await runner.start();
      const own = runner.view(monthlyQuota).get("usage-k1-2026-11");
      await runner.close();
      expect(own).to.include({ characters: 42, requests: 3, revision: 2 });
      const partition = "usage-k1-2026-11";
      const state = await client.getProjectionState("voxledger-monthly-quota-v4", { partition });
      expect(state).to.deep.equal(own);
    } finally {
      await store.close();
      await client.dispose();
    }
  });

  it("of an earlier version are removed when a new version is installed, and no others", async () => {
    await start();
    const script = "fromAll().partitionBy(function () { return null; }).when({});";
    for (const name of ["voxledger-x-v1", "voxledger-x-v2", "voxledger-x-vintage", "others-x-v1"]) {
      await started.server.create(name, script);
    }
    await started.server.disable("voxledger-x-v1");
    const wanted = [{ name: "voxledger-x-v3", family: "voxledger-x-v", query: script }];
    expect(await installUserProjections(started.server, wanted, atOnce)).to.deep.equal([
      { name: "voxledger-x-v3", done: "created", state: "running", progress: 100 },
      { name: "voxledger-x-v1", done: "removed", state: "absent" },
      { name: "voxledger-x-v2", done: "removed", state: "absent" },
    ]);
    expect(await found(["voxledger-x-v1", "voxledger-x-v2"])).to.deep.equal([undefined, undefined]);
    const others = await found(["voxledger-x-vintage", "others-x-v1"]);
    expect(others.map((one) => one?.state)).to.deep.equal(["running", "running"]);
  });

  it("that the server cannot run are reported with its reason", async () => {
    await start();
    const wanted = [{ name: "voxledger-x-v1", family: "voxledger-x-v", query: "fromNowhere();" }];
    const [installed] = await installUserProjections(started.server, wanted, atOnce);
    expect(installed).to.include({ done: "created", state: "faulted" });
    expect(installed?.reason).to.contain("fromNowhere");
  });

  it("run despite other applications' events whose data a server cannot give to a script", async () => {
    await start();
    await started.server.create(
      "others",
      "fromAll().partitionBy(function (e) { return e.data && null; }).when({});",
    );
    await install();
    for (const data of ['"text"', "null", '{"text":"\u2028"}', '{"text":"\u2029"}'])
      await appendForeign("other-1", data);
    expect((await found(names)).map((one) => one?.state)).to.deep.equal(["running", "running", "running"]);
    expect(await started.server.find("others")).to.include({ state: "faulted" });
  });

  it("that are faulted are updated and restarted, and the command reports the fault", async () => {
    await start();
    const [name = ""] = names;
    await started.server.create(
      name,
      "fromAll().partitionBy(function (e) { return e.data && null; }).when({});",
    );
    await appendForeign("other-1", '"text"');
    const [installed] = await install();
    expect(installed).to.include({ name, done: "updated", state: "running" });
    expect(installed.fault).to.contain("no object");
  });

  for (const name of ["others-broken", names[0] ?? ""]) {
    it(`are installed although the projection ${name} has a syntax error`, async () => {
      await start();
      await started.server.create(name, "fromAll(");
      const installed: { state: string }[] = await install();
      expect(installed.map(({ state }) => state)).to.deep.equal(["running", "running", "running"]);
    });
  }

  it("that have a syntax error are reported with the server's response", async () => {
    await start();
    const wanted = [{ name: "voxledger-x-v1", family: "voxledger-x-v", query: "fromAll(" }];
    const [installed] = await installUserProjections(started.server, wanted, atOnce);
    expect(installed).to.include({ done: "created", state: "faulted" });
    expect(installed?.reason).to.match(/took too long .* or has a syntax error; .* \(code 2: Exception was/);
  });

  for (const done of ["created", "updated"]) {
    it(`are not ${done} for a user outside $ops, with an explanation`, async () => {
      await start();
      if (done === "updated") await install();
      started.node.faults.denyProjections();
      const { exitCode, stderr } = await voxledger("projections", "install");
      expect(exitCode).to.equal(1);
      expect(stderr).to.match(/^error: .*must be of the group \$ops or \$admins\n$/);
    });
  }

  it("are refused in one line by a server that does not run projections", async () => {
    await start({ projections: false });
    expect(await rejection(started.server.find("any"))).to.be.instanceOf(EventStoreUnavailable);
    const { exitCode, stdout, stderr } = await voxledger("projections", "install");
    expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: "" });
    expect(stderr).to.equal("error: the server runs no projections (its setting RunProjections)\n");
  });
});

describe("server-side projections with the embedded store", () => {
  const voxledger = (...args: string[]) => runCli(args, { EVENT_STORE: "sqlite:/nowhere/events.db" });

  it("are printed, all or one", async () => {
    const { stdout } = await voxledger("projections", "show", "--json");
    const shown: { name: string; query: string }[] = JSON.parse(stdout);
    expect(shown.map(({ name }) => name)).to.deep.equal(names);
    const one = await voxledger("projections", "show", "voxledger-rate-v2");
    expect(one.stdout.trim()).to.equal(shown[2]?.query.trim());
  });

  it("cannot be installed", async () => {
    const { stderr } = await voxledger("projections", "install");
    expect(stderr).to.equal("error: EVENT_STORE: only EventStoreDB has user projections\n");
  });
});
