import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { WebSocket, WebSocketServer } from "ws";
import { complaints, type Haproxy, hasHaproxy, startHaproxy } from "../support/haproxy.ts";

/** Answers with who it is and what came; `/v2/slow` sends its second half when told to. */
const startParty = async (name: string) => {
  let isReady = true;
  let sendRest = (): void => {};
  const server: Server = createServer((req, res) => {
    if (req.url === "/health/ready") return void res.writeHead(isReady ? 200 : 503).end();
    if (req.url === "/v2/slow") {
      sendRest = () => void res.end("rest");
      return void res.write("first");
    }
    req.resume();
    res.end(JSON.stringify({ name, headers: req.headers, url: req.url }));
  });
  new WebSocketServer({ server, path: "/v2/text/stream" }).on("connection", (socket) => {
    socket.send(name);
    socket.on("message", (data) => socket.send(data));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    place: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: (now: boolean): void => {
      isReady = now;
    },
    sendRest: (): void => sendRest(),
    stop: (): void => {
      server.closeAllConnections();
      server.close();
    },
  };
};

type Party = Awaited<ReturnType<typeof startParty>>;

describe("HAProxy, as infra/haproxy has it", () => {
  let haproxy: Haproxy;
  let one: Party;
  let two: Party;
  let cache: Party;

  before(async () => {
    if (!(await hasHaproxy())) throw new Error("haproxy is not installed: scripts/setup haproxy installs it");
  });
  beforeEach(async () => {
    [one, two, cache] = await Promise.all([startParty("one"), startParty("two"), startParty("cache")]);
    haproxy = await startHaproxy({
      "voxledger-1:8080": one.place,
      "voxledger-2:8080": two.place,
      "varnish:80": cache.place,
    });
  });
  afterEach(async () => {
    await haproxy.stop();
    for (const party of [one, two, cache]) party.stop();
  });

  const ask = async (path: string, init: RequestInit = {}, url = haproxy.publicUrl) => {
    const answer = await fetch(`${url}${path}`, init);
    const told = (await answer.json()) as { name: string; headers: IncomingHttpHeaders };
    return { status: answer.status, ...told };
  };

  /** Asks until it is so; the test's own timeout bounds it. */
  const until = async (path: string, isSo: (name: string) => boolean): Promise<void> => {
    while (!isSo((await ask(path)).name)) await new Promise(setImmediate);
  };

  it("has a configuration with nothing to be said against", async () => {
    expect(await complaints()).to.deep.equal([]);
  });

  it("asks the cache for what can be kept, and for its purging", async () => {
    for (const path of ["/v2/text/synthesize?text=a", "/v1/text:synthesize?text=a", "/audio/ab.mp3"]) {
      expect((await ask(path)).name, path).to.equal("cache");
    }
    expect((await ask("/audio/ab", { method: "PURGE" })).name).to.equal("cache");
  });

  it("asks the instances for all else, in turn", async () => {
    const init = { method: "POST", body: "{}" };
    const names = [];
    for (let count = 0; count < 6; count++) names.push((await ask("/v2/text/synthesize", init)).name);
    expect(new Set(names)).to.deep.equal(new Set(["one", "two"]));
    expect((await ask("/v2/config")).name).to.be.oneOf(["one", "two"]);
  });

  it("shows the operator's interfaces to operators alone", async () => {
    for (const path of ["/admin", "/admin/keys", "/ADMIN/keys", "/metrics"]) {
      expect((await ask(path)).status, path).to.equal(404);
    }
    expect((await ask("/admin/keys", {}, haproxy.operatorsUrl)).name).to.be.oneOf(["one", "two"]);
  });

  it("tells who asks, whatever they say of themselves", async () => {
    const theirs = {
      "X-Forwarded-For": "203.0.113.9",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-Host": "elsewhere.example",
      traceparent: `00-${"1".repeat(32)}-${"1".repeat(16)}-01`,
      tracestate: "a=b",
    };
    const { headers } = await ask("/v2/config", { headers: theirs });
    expect(headers).to.include({ "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "http" });
    expect(headers).not.to.have.any.keys("x-forwarded-host", "traceparent", "tracestate");
  });

  it("passes a stream on while the rest of it is still to come", async () => {
    const answer = await fetch(`${haproxy.publicUrl}/v2/slow`);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).to.equal("first");
    one.sendRest();
    two.sendRest();
    expect((await reader?.read())?.value).to.equal("rest");
  });

  it("opens sockets through to an instance, where the cache has no part", async () => {
    const socket = new WebSocket(`${haproxy.publicUrl.replace("http", "ws")}/v2/text/stream`);
    const [name] = await once(socket, "message");
    expect(String(name)).to.be.oneOf(["one", "two"]);
    socket.send("hello");
    expect(String((await once(socket, "message"))[0])).to.equal("hello");
    socket.terminate();
  });

  it("leaves an instance that is not ready alone", async () => {
    one.ready(false);
    let others = 0;
    await until("/v2/config", (name) => {
      others = name === "two" ? others + 1 : 0;
      return others === 10;
    });
  });

  it("does without the cache when that is gone", async () => {
    cache.ready(false);
    await until("/audio/ab.mp3", (name) => name !== "cache");
  });
});
