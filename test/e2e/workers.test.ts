import { join } from "node:path";
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
import { commandLineOf, descendantsOf, gone, isRunning, until, workersOf } from "../support/processes.ts";
import { query, serviceOfWorkers } from "../support/service-of-workers.ts";

/** Resolves with the open socket, or with undefined if it was refused. */
const opens = async (url: string, credentials: Credentials): Promise<WebSocket | undefined> => {
  const headers = authorize(credentials);
  const socket = new WebSocket(`${url.replace("http", "ws")}/v2/text/stream`, { headers });
  const opened = Promise.withResolvers<boolean>();
  socket.once("open", () => opened.resolve(true)).once("error", () => opened.resolve(false));
  return (await opened.promise) ? socket : undefined;
};

describe("a service of several workers", () => {
  const workers = serviceOfWorkers();

  it("shows what an operator changes on every worker, as soon as the change is acknowledged", async () => {
    await workers.start({ WORKERS: "3" });
    for (let times = 0; times < 5; times++) {
      const another = await registerWebsite(workers.service.url);
      const responses = Array.from({ length: 9 }, () =>
        synthesize(workers.service.url, another, query, { headers: { Connection: "close" } }),
      );
      for (const { status } of await Promise.all(responses)) expect(status).to.equal(200);
    }
  });

  it("shares one process with the speech tools among its workers", async () => {
    await workers.start();
    await Promise.all(
      Array.from({ length: 8 }, async () => expect((await workers.ask()).status).to.equal(200)),
    );
    const helpers = descendantsOf(workers.service.pid).filter(({ pid }) =>
      commandLineOf(pid).includes("host/main.ts"),
    );
    expect(helpers).to.have.length(1);
  });

  it("gives a large young generation to the workers, and a small one to the first process", async () => {
    await workers.start();
    const { pid } = workers.service;
    const sizes = [pid, ...workersOf(pid)].map((one) =>
      commandLineOf(one)
        .match(/--max-semi-space-size=\d+/g)
        ?.at(-1),
    );
    const [small, large] = [2, 16].map((size) => `--max-semi-space-size=${size}`);
    expect(sizes).to.deep.equal([small, large, large]);
  });

  it("enforces limits exactly for all workers together", async () => {
    await workers.start({
      WORKERS: "3",
      BURST_LIMIT: "20",
      BURST_WINDOW_MS: "60000",
      WS_SOCKETS_PER_KEY: "4",
    });
    const headers = { ...authorize(workers.key), Connection: "close" };
    const list = async (): Promise<number> =>
      (await fetch(`${workers.service.url}/v2/voices`, { headers })).status;
    const statuses = await Promise.all(Array.from({ length: 40 }, list));
    expect(Object.groupBy(statuses, String)).to.deep.equal({
      200: new Array(20).fill(200),
      429: new Array(20).fill(429),
    });
    const other = await registerWebsite(workers.service.url);
    const sockets = await Promise.all(Array.from({ length: 10 }, () => opens(workers.service.url, other)));
    expect(sockets.filter((socket) => socket !== undefined)).to.have.length(4);
    for (const socket of sockets) socket?.terminate();
  });

  it("reports metrics, health and activity of all workers, even of ended ones, whichever worker responds", async () => {
    await workers.start({ METRICS_PORT: "0" });
    const metricsUrl = /"url":"(http:[^"]+\/metrics)"/.exec(workers.service.log.join("\n"))?.[1] ?? "";
    const total = async (): Promise<number> => {
      const text = await (await fetch(metricsUrl)).text();
      const counts = text.matchAll(/^http_server_request_duration_seconds_count\{.*synthesize".*\} (\d+)$/gm);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const requests = 12;
    for (let times = 0; times < requests; times++) await bytesOf(await workers.ask());
    expect(await total()).to.equal(requests);
    const { body: before } = await admin(workers.service.url, "GET", "/status");
    expect(before.others, "other services").to.deep.equal([]);
    process.kill(workers.service.pid, "SIGHUP");
    await until("the workers are restarted", () => workers.logged("restarted the workers") > 0);
    expect(await total()).to.equal(requests);
    for (let times = 0; times < 6; times++) {
      const health = await fetch(`${workers.service.url}/health`, { headers: { Connection: "close" } });
      expect(await health.json()).to.have.property("status", "ok");
    }
    for (let times = 0; times < requests; times++) await bytesOf(await workers.ask());
    for (let times = 0; times < 4; times++) {
      const { body } = await admin(workers.service.url, "GET", "/status");
      const [hour] = body.activity as { served: Record<string, { requests: number }> }[];
      const served = Object.values(hour?.served ?? {}).reduce((sum, one) => sum + one.requests, 0);
      expect(served).to.equal(requests);
    }
  });

  it("lets connections wait while all its workers are dead, and replaces them", async () => {
    await workers.start();
    const killed = workersOf(workers.service.pid);
    expect(killed).to.have.length(2);
    for (const pid of killed) process.kill(pid, "SIGKILL");
    await gone(...killed);
    const responses = await Promise.all(Array.from({ length: 8 }, workers.ask));
    for (const response of responses) {
      expect(response.status).to.equal(200);
      await bytesOf(response);
    }
    await until("both are replaced", () => workersOf(workers.service.pid).length === 2);
  });

  it("takes over the journals of dead workers at once", async () => {
    await workers.start();
    expect((await workers.ask()).status).to.equal(200);
    const store = await openSqliteEventStore({ path: join(workers.folder, "data", "events.db") });
    const journals = await listOpenJournals(store);
    expect(journals).to.have.length(2);
    for (const pid of workersOf(workers.service.pid)) process.kill(pid, "SIGKILL");
    let open = journals;
    while (open.some((journal) => journals.includes(journal))) {
      await delay(20);
      open = await listOpenJournals(store);
    }
    await store.close();
  });

  it("replaces its workers on SIGHUP under load without a failed request", async () => {
    await workers.start();
    const before = workersOf(workers.service.pid);
    let isOver = false;
    let served = 0;
    const clients = Array.from({ length: 12 }, async () => {
      while (!isOver) {
        const response = await synthesize(workers.service.url, workers.key, query);
        expect(response.status).to.equal(200);
        await bytesOf(response);
        served += 1;
      }
    });
    const all = Promise.all(clients);
    await Promise.race([all, until("the load has begun", () => served > 50)]);
    process.kill(workers.service.pid, "SIGHUP");
    await Promise.race([
      all,
      until("the workers are restarted", () => workers.logged("restarted the workers") > 0),
    ]);
    const then = served;
    await Promise.race([all, until("the new ones serve", () => served > then + 50)]);
    isOver = true;
    await all;
    expect(workersOf(workers.service.pid)).to.have.length(2).and.not.include.members(before);
    expect(before.filter(isRunning)).to.deep.equal([]);
  });

  it("reports a frozen worker as missing, and serves operators and clients without it", async () => {
    await workers.start();
    const [, frozen = 0] = workersOf(workers.service.pid);
    process.kill(frozen, "SIGSTOP");
    const health = await fetch(`${workers.service.url}/health`, { headers: { Connection: "close" } });
    expect(await health.json()).to.have.nested.property("parts.workers.detail", "1 of 2 do not respond");
    const another = await registerWebsite(workers.service.url);
    const responses = Array.from({ length: 8 }, () =>
      synthesize(workers.service.url, another, query, { headers: { Connection: "close" } }),
    );
    for (const { status } of await Promise.all(responses)) expect(status).to.equal(200);
    if (isRunning(frozen)) process.kill(frozen, "SIGCONT");
  });
});
