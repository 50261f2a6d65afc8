import { join } from "node:path";
import { expect } from "chai";
import type { Command } from "commander";
import { composeAuditProof } from "../../../src/bootstrap/commands/audit-proof.ts";
import { registerAuditProofCommands } from "../../../src/cli/commands/audit-proof.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { readSettings } from "../../../src/settings/read-settings.ts";
import { readLog } from "../../contracts/event-store/events.ts";
import { admin, authorize, type Credentials, registerWebsite } from "../../support/client.ts";
import { runCommand } from "../../support/command-line.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import {
  ask,
  type InProcessService,
  machineAt,
  startInProcessService,
  type TestTime,
} from "../../support/in-process-service.ts";
import { adminToken, temporaryFolder } from "../../support/service.ts";

const day = 24 * 3_600_000;
const masterKey = Buffer.alloc(32, 7).toString("base64");

interface Deployment {
  readonly env: Record<string, string>;
  readonly readEvents: () => ReturnType<typeof readLog>;
  readonly remove: () => Promise<void>;
}

const onSqlite = async (): Promise<Deployment> => {
  const folder = await temporaryFolder();
  return {
    env: { DATA_DIR: folder.path },
    readEvents: async () => {
      const store = await openSqliteEventStore({ path: join(folder.path, "events.db"), readOnly: true });
      await using _ = { [Symbol.asyncDispose]: store.close };
      return await readLog(store);
    },
    remove: folder.remove,
  };
};

/** Its server runs on the same machine: its clock is set, too. */
const onEventStoreDB = async (time: TestTime): Promise<Deployment> => {
  const folder = await temporaryFolder();
  const node = await startEventStoreDBNode({ clock: () => time.now });
  return {
    env: { DATA_DIR: folder.path, EVENT_STORE: node.url },
    readEvents: async () => {
      const store = await openEventStoreDB({ url: node.url });
      await using _ = { [Symbol.asyncDispose]: store.close };
      return await readLog(store);
    },
    remove: async () => {
      await node.close();
      await folder.remove();
    },
  };
};

for (const [driver, open] of [
  ["SQLite", onSqlite],
  ["an EventStoreDB on this machine", onEventStoreDB],
] as const) {
  describe(`a clock that is set while the service runs over ${driver}`, () => {
    let time: TestTime;
    let deployment: Deployment;
    let service: InProcessService;
    let website: Credentials;

    const start = (): Promise<InProcessService> => startInProcessService(deployment.env, undefined, time);
    beforeEach(async () => {
      time = { now: Date.parse("2023-11-05T10:00:00.000Z"), set: 0 };
      deployment = await open(time);
      service = await start();
      website = await registerWebsite(service.url, { requestsPerMinute: 1_000, monthlyCharacters: 100_000 });
    });
    afterEach(async () => {
      await service.close();
      await deployment.remove();
    });

    const setClock = (ms: number): void => {
      time.now += ms;
      time.set = (time.set ?? 0) + ms;
    };
    const speak = (text = "The train leaves at nine.") => {
      const query = new URLSearchParams({ voice: "UK English Female", text });
      return ask(`${service.url}/v2/text/synthesize?${query}`, { headers: authorize(website) });
    };
    const charactersIn = async (month: string) =>
      (await admin(service.url, "GET", `/keys/${website.apiKey}/usage?month=${month}`)).body.characters;
    const acceptClock = async () => {
      const env = { MASTER_KEY: masterKey, ...deployment.env };
      return await runCommand(env, ["clock", "accept", "--json"], undefined, machineAt(time));
    };
    const verifyLog = async () => {
      const settings = readSettings(deployment.env);
      const register = (program: Command) =>
        registerAuditProofCommands(
          program,
          composeAuditProof(() => settings),
        );
      return await runCommand(deployment.env, ["audit", "verify"], register);
    };
    /** The proof seals the log if that is due. */
    const seal = () =>
      ask(`${service.url}/admin/keys/${website.apiKey}/proof`, {
        headers: { Authorization: `Bearer ${adminToken}` },
      });
    /** Resolves when the instance has read what an operator said. */
    const untilRecording = async (): Promise<void> => {
      while ((await speak()).status !== 200);
    };
    const expectRefused = async (reason: string): Promise<void> => {
      const ready = await ask(`${service.url}/health/ready`);
      expect(ready.status).to.equal(503);
      expect(ready.text).to.include(reason);
      const { status, headers, text } = await speak();
      expect([status, headers["retry-after"]]).to.deep.equal([503, "10"]);
      expect(text).to.include(reason).and.to.include("voxledger clock accept");
    };

    it("forward by 92 days stops recording, and leaves no trace once it is set back", async () => {
      expect((await speak()).status).to.equal(200);
      setClock(92 * day);
      await expectRefused("set forward by 7948800.0 s");
      setClock(-92 * day);
      expect((await speak()).status).to.equal(200);
      expect(await charactersIn("2023-11")).to.equal(50);
      const times = (await deployment.readEvents()).map(({ data }) => (data as { at?: string }).at ?? "");
      expect(times.filter((at) => at > "2023-12")).to.deep.equal([]);
    });

    it("back stops recording, until it is set right", async () => {
      expect((await speak()).status).to.equal(200);
      setClock(-15 * day);
      await expectRefused("set back by 1296000.0 s");
      setClock(15 * day);
      expect((await speak()).status).to.equal(200);
    });

    it("in small steps stops recording when they add up to more than 60 s", async () => {
      for (let hour = 0; hour < 3; hour++) {
        time.now += 3_600_000;
        setClock(20_000);
        expect((await speak()).status, `hour ${hour}`).to.equal(200);
      }
      time.now += 3_600_000;
      setClock(20_000);
      await expectRefused("set forward by 80.0 s");
    });

    it("is right when the machine was suspended", async () => {
      time.now += 9 * 3_600_000; // the uptime counts this time
      expect((await speak()).status).to.equal(200);
    });

    it("is right after a correction of less than 60 s at a month's end and on a leap day", async () => {
      for (const [at, next] of [
        ["2023-11-30T23:59:50.000Z", "2023-12"],
        ["2024-02-29T23:59:50.000Z", "2024-03"],
      ] as const) {
        time.now = Date.parse(at) + (time.set ?? 0);
        time.set = 0;
        await service.close();
        service = await start();
        setClock(20_000);
        expect((await speak()).status, at).to.equal(200);
        expect(await charactersIn(next), next).to.equal(25);
      }
    });

    it("goes on at once when an operator says that it is right", async () => {
      setClock(40 * day);
      await expectRefused("set forward");
      const { exitCode, stdout } = await acceptClock();
      expect([exitCode, JSON.parse(stdout)]).to.deep.equal([0, { accepted: "2023-12-15T10:00:00.000Z" }]);
      await untilRecording();
      expect(await charactersIn("2023-12")).to.equal(25);
    });

    it("that was wrong for a while is corrected: servings go on at once, and the others stay in their month", async () => {
      expect((await speak()).status).to.equal(200);
      await service.close();
      time.now += 92 * day; // a start of the machine with a wrong clock: nothing shows it
      service = await start();
      expect((await speak()).status).to.equal(200);
      expect((await speak("It is late.")).status).to.equal(200);
      time.now += 20 * 60_000;
      expect((await seal()).status).to.equal(200);
      setClock(-92 * day);
      await expectRefused("set back by 7948800.0 s");
      await service.close();
      service = await start();
      await expectRefused(
        driver === "SQLite" ? "behind the event store's" : "the log has times that are 7948800.0 s later",
      );
      const { exitCode, stdout, stderr } = await acceptClock();
      expect([exitCode, stderr]).to.deep.equal([0, ""]);
      const { corrected } = JSON.parse(stdout);
      expect(corrected).to.deep.include({ servings: 2, at: "2023-11-05T10:20:00.000Z" });
      expect(corrected.journals).to.have.length(1);
      await untilRecording();
      expect(await charactersIn("2023-11")).to.equal(50);
      expect(await charactersIn("2024-02")).to.equal(36);
      const report = await admin(service.url, "GET", `/keys/${website.apiKey}/usage?month=2023-11`);
      expect(report.body.corrections).to.deep.equal([
        { at: "2023-11-05T10:20:00.000Z", month: "2024-02", requests: 2, characters: 36 },
      ]);
      for (const query of [`apiKey=${website.apiKey}&`, ""]) {
        const requests = async (from: string, to: string): Promise<number> => {
          const path = `/events?${query}type=SynthesisServed&from=${from}&to=${to}&limit=100`;
          return ((await admin(service.url, "GET", path)).body.entries as unknown[]).length;
        };
        expect(await requests("2023-11-05", "2023-11-06"), `the true day ${query}`).to.equal(2);
        expect(await requests("2024-02-05", "2024-02-06"), `the other day ${query}`).to.equal(2);
      }
      const events = await deployment.readEvents();
      const position = events.find(({ type }) => type === "ClockCorrected")?.position ?? 0;
      const served = events.filter(({ type, position: at }) => type === "SynthesesServed" && at > position);
      for (const { created, data } of served) {
        expect((data as { at: string }).at).to.equal("2023-11-05T10:20:00.000Z");
        expect(created).to.equal(time.now);
      }
      time.now += 10_000; // the clock is compared with the event store's at most every 10 s
      while ((await seal()).status !== 200); // 503 until it has been compared
      const verified = await verifyLog();
      expect(verified.exitCode, verified.stderr + verified.stdout).to.equal(2);
      const remarks = verified.stdout.split("\n").filter((line) => line.startsWith("remark: "));
      expect(remarks).to.have.length(1);
      expect(remarks[0]).to.include("the clock was corrected at 2023-11-05T10:20:00.000Z");
    });

    it("refuses the commands of the command line, except for suspending a key and revoking a secret", async () => {
      await service.close();
      time.now -= 15 * day; // a start of the machine with a wrong clock
      const env = { MASTER_KEY: masterKey, ...deployment.env };
      const run = (...args: string[]) => runCommand(env, args, undefined, machineAt(time));
      const { apiKey } = website;
      for (const args of [
        ["key", "plan", apiKey, "free"],
        ["website", "create", "Shop"],
        ["secret", "create", apiKey],
        ["audio", "delete", "0".repeat(64)],
      ]) {
        const { exitCode, stderr } = await run(...args);
        expect([exitCode, stderr.split(":")[1]], args.join(" ")).to.deep.equal([1, " Nothing is recorded"]);
      }
      const suspended = await run("key", "suspend", apiKey, "--reason", "leaked", "--json");
      expect(suspended.exitCode, suspended.stderr).to.equal(0);
      expect(JSON.parse(suspended.stdout).suspension.since).to.equal("2023-11-05T10:00:00.000Z");
      service = await start();
    });

    it("refuses every command except for suspending a key and revoking a secret, which take the log's last time", async () => {
      const created = await admin(service.url, "POST", `/keys/${website.apiKey}/secrets`);
      setClock(-15 * day);
      const plan = { tier: "enterprise", requestsPerMinute: 1, monthlyCharacters: 1 };
      const key = `/keys/${website.apiKey}`;
      for (const [method, path, body] of [
        ["PUT", `${key}/plan`, plan],
        ["POST", `${key}/secrets`, undefined],
        ["POST", "/websites", { name: "Shop", plan }],
        ["PUT", `/websites/${website.id}/origins`, { origins: ["https://shop.example"] }],
        ["POST", "/webhooks", { url: "https://hooks.example/x", events: ["key.suspended"] }],
      ] as const) {
        const refused = await admin(service.url, method, path, body);
        expect(refused.status, `${method} ${path}`).to.equal(503);
        expect(JSON.stringify(refused.body)).to.include("set back");
      }
      const before = (await deployment.readEvents()).length;
      const { secretId } = created.body as { secretId: string };
      expect((await admin(service.url, "DELETE", `${key}/secrets/${secretId}`)).status).to.equal(204);
      expect((await admin(service.url, "POST", `${key}/suspend`, { reason: "leaked" })).status).to.equal(200);
      expect((await admin(service.url, "POST", `${key}/reinstate`, { reason: "found" })).status).to.equal(
        503,
      );
      const urgent = (await deployment.readEvents())
        .slice(before)
        .filter(({ stream }) => stream.startsWith("key-"));
      expect(urgent.map(({ type }) => type)).to.deep.equal(["SecretRevoked", "KeySuspended"]);
      for (const { data, metadata } of urgent) {
        expect(metadata).to.include({ actor: "admin", clock: "log" });
        expect((data as { at: string }).at).to.equal("2023-11-05T10:00:00.000Z");
      }
    });
  });
}

describe("one of three instances whose clock is set", () => {
  it("records nothing, while the others continue; `clock accept` on another machine does not help it", async () => {
    const time: TestTime = { now: Date.parse("2023-11-30T23:58:00.000Z"), set: 0 };
    const own: TestTime = { now: time.now, set: 0 };
    const deployment = await onEventStoreDB(time);
    const services: InProcessService[] = [];
    for (const one of [time, time, own])
      services.push(await startInProcessService(deployment.env, undefined, one));
    const [first, , third] = services as [InProcessService, InProcessService, InProcessService];
    const website = await registerWebsite(first.url, { requestsPerMinute: 1_000 });
    const speak = async ({ url }: InProcessService): Promise<number> => {
      const query = new URLSearchParams({ voice: "UK English Female", text: "The train leaves at nine." });
      return (await ask(`${url}/v2/text/synthesize?${query}`, { headers: authorize(website) })).status;
    };
    while ((await speak(third)) !== 200);

    own.now += 5 * 60_000; // into the next month
    own.set = 5 * 60_000;
    expect(await Promise.all(services.map(speak))).to.deep.equal([200, 200, 503]);
    const env = { MASTER_KEY: masterKey, ...deployment.env };
    const accepted = await runCommand(env, ["clock", "accept"], undefined, machineAt(time));
    expect(accepted.exitCode, accepted.stderr).to.equal(0);
    expect(await Promise.all(services.map(speak))).to.deep.equal([200, 200, 503]);

    own.now -= 5 * 60_000;
    own.set = 0;
    expect(await Promise.all(services.map(speak))).to.deep.equal([200, 200, 200]);
    const months = (await deployment.readEvents()).flatMap(({ type, data }) =>
      type === "SynthesesServed" ? [(data as { at: string }).at.slice(0, 7)] : [],
    );
    expect([...new Set(months)]).to.deep.equal(["2023-11"]);
    await Promise.all(services.map((service) => service.close()));
    await deployment.remove();
  });
});
