import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { WebSocket } from "ws";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { listOpenJournals } from "../../src/ledger/journal/journal-registry.ts";
import {
  admin,
  authorize,
  bytesOf,
  type Credentials,
  registerWebsite,
  synthesize,
} from "../support/client.ts";
import { freePort } from "../support/free-port.ts";
import {
  adminToken,
  failToStart,
  type RunningService,
  startInstance,
  testSettings,
} from "../support/instance.ts";
import {
  commandLineOf,
  descendantsOf,
  gone,
  isRunning,
  signal,
  until,
  workersOf,
} from "../support/processes.ts";

const query = { voice: "UK English Female", text: "One of us speaks." };

/** Resolves with the open socket, or with undefined if it was refused. */
const opens = async (url: string, credentials: Credentials): Promise<WebSocket | undefined> => {
  const headers = authorize(credentials);
  const socket = new WebSocket(`${url.replace("http", "ws")}/v2/text/stream`, { headers });
  const opened = Promise.withResolvers<boolean>();
  socket.once("open", () => opened.resolve(true)).once("error", () => opened.resolve(false));
  return (await opened.promise) ? socket : undefined;
};

describe("a service of several workers", () => {
  let folder: string;
  let service: RunningService;
  let key: Credentials;

  const start = async (env: Record<string, string> = {}): Promise<void> => {
    service = await startInstance(join(folder, "data"), { WORKERS: "2", ...env });
    key = await registerWebsite(service.url);
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-workers-"));
  });
  afterEach(async () => {
    if (service !== undefined && isRunning(service.pid)) await service.kill();
    await rm(folder, { recursive: true });
  });

  /** Sends one request on a connection of its own. */
  const ask = async (): Promise<Response> => {
    const url = `${service.url}/v2/text/synthesize?${new URLSearchParams(query)}`;
    const asking = request(url, { headers: authorize(key), agent: false }).end();
    const [response] = (await once(asking, "response")) as [IncomingMessage];
    return new Response(await buffer(response), { status: response.statusCode ?? 0 });
  };
  const logged = (message: string): number => service.log.filter((line) => line.includes(message)).length;

  it("shows what an operator changes on every worker, as soon as the change is acknowledged", async () => {
    await start({ WORKERS: "3" });
    for (let times = 0; times < 5; times++) {
      const another = await registerWebsite(service.url);
      const responses = Array.from({ length: 9 }, () =>
        synthesize(service.url, another, query, { headers: { Connection: "close" } }),
      );
      for (const { status } of await Promise.all(responses)) expect(status).to.equal(200);
    }
  });

  it("shares one process with the speech tools among its workers", async () => {
    await start();
    await Promise.all(Array.from({ length: 8 }, async () => expect((await ask()).status).to.equal(200)));
    const helpers = descendantsOf(service.pid).filter(({ pid }) =>
      commandLineOf(pid).includes("host/main.ts"),
    );
    expect(helpers).to.have.length(1);
  });

  it("enforces limits exactly for all workers together", async () => {
    await start({ WORKERS: "3", BURST_LIMIT: "20", BURST_WINDOW_MS: "60000", WS_SOCKETS_PER_KEY: "4" });
    const headers = { ...authorize(key), Connection: "close" };
    const list = async (): Promise<number> => (await fetch(`${service.url}/v2/voices`, { headers })).status;
    const statuses = await Promise.all(Array.from({ length: 40 }, list));
    expect(Object.groupBy(statuses, String)).to.deep.equal({
      200: new Array(20).fill(200),
      429: new Array(20).fill(429),
    });
    const other = await registerWebsite(service.url);
    const sockets = await Promise.all(Array.from({ length: 10 }, () => opens(service.url, other)));
    expect(sockets.filter((socket) => socket !== undefined)).to.have.length(4);
    for (const socket of sockets) socket?.terminate();
  });

  it("reports metrics, health and activity of all workers, even of ended ones, whichever worker responds", async () => {
    await start({ METRICS_PORT: "0" });
    const metricsUrl = /"url":"(http:[^"]+\/metrics)"/.exec(service.log.join("\n"))?.[1] ?? "";
    const total = async (): Promise<number> => {
      const text = await (await fetch(metricsUrl)).text();
      const counts = text.matchAll(/^http_server_request_duration_seconds_count\{.*synthesize".*\} (\d+)$/gm);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const requests = 12;
    for (let times = 0; times < requests; times++) await bytesOf(await ask());
    expect(await total()).to.equal(requests);
    const { body: before } = await admin(service.url, "GET", "/status");
    expect(before.others, "other services").to.deep.equal([]);
    process.kill(service.pid, "SIGHUP");
    await until("the workers are restarted", () => logged("restarted the workers") > 0);
    expect(await total()).to.equal(requests);
    for (let times = 0; times < 6; times++) {
      const health = await fetch(`${service.url}/health`, { headers: { Connection: "close" } });
      expect(await health.json()).to.have.property("status", "ok");
    }
    for (let times = 0; times < requests; times++) await bytesOf(await ask());
    for (let times = 0; times < 4; times++) {
      const { body } = await admin(service.url, "GET", "/status");
      const [hour] = body.activity as { served: Record<string, { requests: number }> }[];
      const served = Object.values(hour?.served ?? {}).reduce((sum, one) => sum + one.requests, 0);
      expect(served).to.equal(requests);
    }
  });

  it("lets connections wait while all its workers are dead, and replaces them", async () => {
    await start();
    const killed = workersOf(service.pid);
    expect(killed).to.have.length(2);
    for (const pid of killed) process.kill(pid, "SIGKILL");
    await gone(...killed);
    const responses = await Promise.all(Array.from({ length: 8 }, ask));
    for (const response of responses) {
      expect(response.status).to.equal(200);
      await bytesOf(response);
    }
    await until("both are replaced", () => workersOf(service.pid).length === 2);
  });

  it("takes over the journals of dead workers at once", async () => {
    await start();
    expect((await ask()).status).to.equal(200);
    const store = await openSqliteEventStore({ path: join(folder, "data", "events.db") });
    const journals = await listOpenJournals(store);
    expect(journals).to.have.length(2);
    for (const pid of workersOf(service.pid)) process.kill(pid, "SIGKILL");
    let open = journals;
    while (open.some((journal) => journals.includes(journal))) {
      await delay(20);
      open = await listOpenJournals(store);
    }
    await store.close();
  });

  it("replaces its workers on SIGHUP under load without a failed request", async () => {
    await start();
    const before = workersOf(service.pid);
    let isOver = false;
    let served = 0;
    const clients = Array.from({ length: 12 }, async () => {
      while (!isOver) {
        const response = await synthesize(service.url, key, query);
        expect(response.status).to.equal(200);
        await bytesOf(response);
        served += 1;
      }
    });
    const all = Promise.all(clients);
    await Promise.race([all, until("the load has begun", () => served > 50)]);
    process.kill(service.pid, "SIGHUP");
    await Promise.race([all, until("the workers are restarted", () => logged("restarted the workers") > 0)]);
    const then = served;
    await Promise.race([all, until("the new ones serve", () => served > then + 50)]);
    isOver = true;
    await all;
    expect(workersOf(service.pid)).to.have.length(2).and.not.include.members(before);
    expect(before.filter(isRunning)).to.deep.equal([]);
  });

  it("completes the requests of all workers on SIGTERM, exits with 0, and leaves nothing running", async () => {
    await start();
    const responses = Array.from({ length: 12 }, ask);
    await Promise.race(responses);
    const all = descendantsOf(service.pid).map(({ pid }) => pid);
    const [code] = await Promise.all([
      service.stop(),
      ...responses.map(async (one) => expect((await one).status).to.equal(200)),
    ]);
    expect(code).to.equal(0);
    await gone(...all);
    expect(logged('"ended"')).to.equal(1);
    const store = await openSqliteEventStore({ path: join(folder, "data", "events.db") });
    expect(await listOpenJournals(store)).to.deep.equal([]);
    await store.close();
  });

  it("ends all workers on SIGTERM while they are being replaced, and exits with 0", async () => {
    await start();
    process.kill(service.pid, "SIGHUP");
    await until("a further worker starts", () => workersOf(service.pid).length === 3);
    const all = descendantsOf(service.pid).map(({ pid }) => pid);
    expect(await service.stop()).to.equal(0);
    await gone(...all);
    expect(logged('"level":"error"')).to.equal(0);
  });

  it("completes requests on SIGTERM before all its workers have started, and exits with 0", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = { ...testSettings, PORT: String(port), WORKERS: "2", ADMIN_TOKEN: adminToken };
    const child = spawn("scripts/node", ["src/main.ts"], {
      env: { PATH: process.env.PATH ?? "", DATA_DIR: join(folder, "data"), ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const { pid = 0 } = child;
    const ended = once(child, "exit");
    await until("the first worker serves and the second one starts", () => workersOf(pid).length === 2);
    const [, starting = 0] = workersOf(pid);
    process.kill(starting, "SIGSTOP");
    const all = descendantsOf(pid);
    key = await registerWebsite(url);
    const headers = { ...authorize(key), "Content-Type": "application/json", Expect: "100-continue" };
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
    await start({ DRAIN_DELAY_SECONDS: "600" });
    process.kill(service.pid, "SIGTERM");
    await until("it drains", () => logged('"draining"') > 0);
    for (let times = 0; times < 4; times++) {
      const { status } = await fetch(`${service.url}/health/ready`, { headers: { Connection: "close" } });
      expect(status).to.be.oneOf([200, 503]);
    }
  });

  it("refuses connections while it completes its last requests", async () => {
    await start({ DRAIN_SECONDS: "600" });
    const headers = { ...authorize(key), "Content-Type": "application/json", Expect: "100-continue" };
    const asking = request(`${service.url}/v2/text/synthesize`, { method: "POST", headers, agent: false });
    asking.flushHeaders();
    await once(asking, "continue");
    const stopped = service.stop();
    const { hostname, port } = new URL(service.url);
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

  it("reports a frozen worker as missing, and serves operators and clients without it", async () => {
    await start();
    const [, frozen = 0] = workersOf(service.pid);
    process.kill(frozen, "SIGSTOP");
    const health = await fetch(`${service.url}/health`, { headers: { Connection: "close" } });
    expect(await health.json()).to.have.nested.property("parts.workers.detail", "1 of 2 do not respond");
    const another = await registerWebsite(service.url);
    const responses = Array.from({ length: 8 }, () =>
      synthesize(service.url, another, query, { headers: { Connection: "close" } }),
    );
    for (const { status } of await Promise.all(responses)) expect(status).to.equal(200);
    if (isRunning(frozen)) process.kill(frozen, "SIGCONT");
  });

  it("leaves no process behind when its first process is killed", async () => {
    await start();
    const all = descendantsOf(service.pid).map(({ pid }) => pid);
    await service.kill();
    await gone(...all);
  });

  it("ends with the message of its first worker if that worker cannot start", async () => {
    const { code, stderr } = await failToStart({
      WORKERS: "2",
      PORT: "0",
      DATA_DIR: join(folder, "data"),
      AUDIO_STORE: "file:/proc/none/audio",
    });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^voxledger: AUDIO_STORE: .*\n$/);
  });

  it("names the port if another server has it", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const env = { WORKERS: "2", PORT: String(port), DATA_DIR: join(folder, "data") };
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
    const child = spawn("script", ["-qec", "scripts/node src/main.ts", "/dev/null"], {
      env: {
        PATH: process.env.PATH ?? "",
        PORT: "0",
        WORKERS: "2",
        VOICES: "classic",
        DATA_DIR: join(folder, "data"),
      },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(child, "close"); // all of its output has arrived
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    await until("it listens", () => output.includes('"listening"'));
    const primary = descendantsOf(child.pid ?? 0).find(({ pid }) =>
      commandLineOf(pid).includes("src/main.ts"),
    );
    const all = descendantsOf(child.pid ?? 0).map(({ pid }) => pid);
    signal(primary?.pid, "SIGHUP");
    await ended;
    await gone(...all);
    expect(output).to.include('"draining"').and.not.include("restarting");
  });
});
