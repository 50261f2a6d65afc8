import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, existsSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { listOpenJournals } from "../../src/ledger/journal/journal-registry.ts";
import { firstSocketFd } from "../../src/workers/worker-process.ts";
import { authorize, registerWebsite } from "../support/client.ts";
import { freePort } from "../support/free-port.ts";
import { adminToken, failToStart, testSettings } from "../support/instance.ts";
import { commandLineOf, descendantsOf, gone, signal, until, workersOf } from "../support/processes.ts";
import { query, serviceOfWorkers } from "../support/service-of-workers.ts";

describe("the start and the end of several workers", () => {
  const workers = serviceOfWorkers();

  it("completes the requests of all workers on SIGTERM, exits with 0, and leaves nothing running", async () => {
    await workers.start();
    const responses = Array.from({ length: 12 }, workers.ask);
    await Promise.race(responses);
    const all = descendantsOf(workers.service.pid).map(({ pid }) => pid);
    const [code] = await Promise.all([
      workers.service.stop(),
      ...responses.map(async (one) => expect((await one).status).to.equal(200)),
    ]);
    expect(code).to.equal(0);
    await gone(...all);
    expect(workers.logged('"ended"')).to.equal(1);
    const store = await openSqliteEventStore({ path: join(workers.folder, "data", "events.db") });
    expect(await listOpenJournals(store)).to.deep.equal([]);
    await store.close();
  });

  it("ends all workers on SIGTERM while they are being replaced, and exits with 0", async () => {
    await workers.start();
    process.kill(workers.service.pid, "SIGHUP");
    await until("a further worker starts", () => workersOf(workers.service.pid).length === 3);
    const all = descendantsOf(workers.service.pid).map(({ pid }) => pid);
    expect(await workers.service.stop()).to.equal(0);
    await gone(...all);
    expect(workers.logged('"level":"error"')).to.equal(0);
  });

  it("completes requests on SIGTERM before all its workers have started, and exits with 0", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = { ...testSettings, PORT: String(port), WORKERS: "2", ADMIN_TOKEN: adminToken };
    const child = spawn("scripts/node", ["src/main.ts"], {
      env: { PATH: process.env.PATH ?? "", DATA_DIR: join(workers.folder, "data"), ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const { pid = 0 } = child;
    const ended = once(child, "exit");
    await until("the first worker serves and the second one starts", () => workersOf(pid).length === 2);
    const [, starting = 0] = workersOf(pid);
    process.kill(starting, "SIGSTOP");
    const all = descendantsOf(pid);
    workers.key = await registerWebsite(url);
    const headers = { ...authorize(workers.key), "Content-Type": "application/json", Expect: "100-continue" };
    const asking = request(`${url}/v2/text/synthesize`, { method: "POST", headers, agent: false });
    asking.flushHeaders();
    await once(asking, "continue");
    process.kill(pid, "SIGHUP");
    process.kill(pid, "SIGTERM");
    process.kill(starting, "SIGCONT");
    const [[response]] = await Promise.all([once(asking, "response"), asking.end(JSON.stringify(query))]);
    expect((response as IncomingMessage).statusCode).to.equal(200);
    (response as IncomingMessage).resume();
    expect(await ended).to.deep.equal([0, null]);
    await gone(...all.map(({ pid: one }) => one));
  });

  it("accepts connections during DRAIN_DELAY_SECONDS", async () => {
    await workers.start({ DRAIN_DELAY_SECONDS: "600" });
    process.kill(workers.service.pid, "SIGTERM");
    await until("it drains", () => workers.logged('"draining"') > 0);
    for (let times = 0; times < 4; times++) {
      const { status } = await fetch(`${workers.service.url}/health/ready`, {
        headers: { Connection: "close" },
      });
      expect(status).to.be.oneOf([200, 503]);
    }
  });

  it("refuses connections while it completes its last requests", async () => {
    await workers.start({ DRAIN_SECONDS: "600" });
    const headers = { ...authorize(workers.key), "Content-Type": "application/json", Expect: "100-continue" };
    const asking = request(`${workers.service.url}/v2/text/synthesize`, {
      method: "POST",
      headers,
      agent: false,
    });
    asking.flushHeaders();
    await once(asking, "continue");
    const stopped = workers.service.stop();
    const { hostname, port } = new URL(workers.service.url);
    const isAccepted = async (): Promise<boolean> => {
      const connection = connect(Number(port), hostname);
      const opened = once(connection, "connect").then(
        () => true,
        () => false,
      );
      return await opened.finally(() => connection.destroy());
    };
    while (await isAccepted()) await delay(10);
    const [[response]] = await Promise.all([once(asking, "response"), asking.end(JSON.stringify(query))]);
    expect((response as IncomingMessage).statusCode).to.equal(200);
    (response as IncomingMessage).resume();
    expect(await stopped).to.equal(0);
  });

  it("leaves no process behind when its first process is killed", async () => {
    await workers.start();
    const all = descendantsOf(workers.service.pid).map(({ pid }) => pid);
    await workers.service.kill();
    await gone(...all);
  });

  it("leaves no process behind if the reader of its log is slow and ends after its first process", async () => {
    const path = join(workers.folder, "log");
    execFileSync("mkfifo", [path]);
    const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const log = await open(path, constants.O_WRONLY);
    const url = `http://127.0.0.1:${await freePort()}`;
    const env = { ...testSettings, PORT: new URL(url).port, WORKERS: "2" };
    const child = spawn("scripts/node", ["src/main.ts"], {
      env: { PATH: process.env.PATH ?? "", DATA_DIR: join(workers.folder, "data"), ...env },
      stdio: ["ignore", log.fd, "inherit"],
    });
    await log.close();
    const { pid = 0 } = child;
    const isAnswered = async (): Promise<boolean> =>
      await fetch(`${url}/nothing`).then(
        ({ status }) => status === 404,
        () => false,
      );
    while (!(await isAnswered()) || workersOf(pid).length < 2) await delay(10);
    // Their lines are three times what the pipe holds.
    const responses = await Promise.all(Array.from({ length: 1_000 }, isAnswered));
    expect(responses).to.not.include(false);
    const [all, served] = [descendantsOf(pid).map((one) => one.pid), workersOf(pid)];
    child.kill("SIGKILL");
    const channels = served.map((one) => `/proc/${one}/fd/${firstSocketFd - 1}`);
    await until("the workers notice it", () => !channels.some((channel) => existsSync(channel)));
    await reader.close();
    await gone(...all);
  });

  it("ends with the message of its first worker if that worker cannot start", async () => {
    const { code, stderr } = await failToStart({
      WORKERS: "2",
      PORT: "0",
      DATA_DIR: join(workers.folder, "data"),
      AUDIO_STORE: "file:/proc/none/audio",
    });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^voxledger: AUDIO_STORE: .*\n$/);
  });

  it("names the port if another server has it", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const env = { WORKERS: "2", PORT: String(port), DATA_DIR: join(workers.folder, "data") };
    const { code, stderr } = await failToStart(env);
    server.close();
    expect(code).to.equal(1);
    expect(stderr).to.match(/^voxledger: PORT.*EADDRINUSE.*\n$/);
  });

  it("starts no worker of another version, so that an upgrade of its files changes no running service", async () => {
    const argument = JSON.stringify({ version: "0.0.1", place: 1, count: 2, sockets: [] });
    const child = spawn("scripts/node", ["src/worker.ts", argument], { stdio: ["ignore", "ignore", "pipe"] });
    const [message, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect(code).to.equal(1);
    expect(message).to.match(/^voxledger: the service runs version 0\.0\.1, .*: restart the service\n$/);
  });

  it("ends on SIGHUP if it has a terminal", async () => {
    // `script` may lose the last output of its terminal, so only the input comes from there.
    const log = join(workers.folder, "log");
    const child = spawn("script", ["-qec", `exec scripts/node src/main.ts > ${log}`, "/dev/null"], {
      env: {
        PATH: process.env.PATH ?? "",
        PORT: "0",
        WORKERS: "2",
        VOICES: "classic",
        DATA_DIR: join(workers.folder, "data"),
      },
      stdio: ["pipe", "inherit", "inherit"],
    });
    const ended = once(child, "close");
    await until("it listens", () => existsSync(log) && readFileSync(log, "utf8").includes('"listening"'));
    const primary = descendantsOf(child.pid ?? 0).find(({ pid }) =>
      commandLineOf(pid).includes("src/main.ts"),
    );
    const all = descendantsOf(child.pid ?? 0).map(({ pid }) => pid);
    signal(primary?.pid, "SIGHUP");
    await ended;
    await gone(...all);
    expect(readFileSync(log, "utf8")).to.include('"draining"').and.not.include("restarting");
  });
});
