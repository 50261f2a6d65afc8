import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { WebSocket, WebSocketServer } from "ws";
import { complaints, type Haproxy, hasHaproxy, startHaproxy } from "../support/haproxy.ts";

/**
 * Responds with its own name and the request. `/v2/slow` sends the second half of its body on
 * `sendRest()`.
 */
const startBackend = async (name: string) => {
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
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    setReady: (value: boolean): void => {
      isReady = value;
    },
    sendRest: (): void => sendRest(),
    stop: (): void => {
      server.closeAllConnections();
      server.close();
    },
  };
};

type Backend = Awaited<ReturnType<typeof startBackend>>;

describe("HAProxy with infra/haproxy's configuration", () => {
  let haproxy: Haproxy;
  let one: Backend;
  let two: Backend;
  let cache: Backend;

  before(async () => {
    if (!(await hasHaproxy())) throw new Error("haproxy is not installed: scripts/setup haproxy installs it");
  });
  beforeEach(async () => {
    [one, two, cache] = await Promise.all([startBackend("one"), startBackend("two"), startBackend("cache")]);
    haproxy = await startHaproxy({
      "voxledger-1:8080": one.address,
      "voxledger-2:8080": two.address,
      "varnish:80": cache.address,
    });
  });
  afterEach(async () => {
    await haproxy.stop();
    for (const backend of [one, two, cache]) backend.stop();
  });

  const request = async (path: string, init: RequestInit = {}, url = haproxy.publicUrl) => {
    const response = await fetch(`${url}${path}`, init);
    const body = (await response.json()) as { name: string; headers: IncomingHttpHeaders };
    return { status: response.status, ...body };
  };

  /**
   * Repeats the request until the responding backend's name matches. The test's timeout bounds it.
   */
  const until = async (path: string, matches: (name: string) => boolean): Promise<void> => {
    while (!matches((await request(path)).name)) await new Promise(setImmediate);
  };

  it("starts without warnings about the configuration", async () => {
    expect(await complaints()).to.deep.equal([]);
  });

  it("routes cacheable GET requests and PURGE requests to the cache", async () => {
    for (const path of ["/v2/text/synthesize?text=a", "/v1/text:synthesize?text=a", "/audio/ab.mp3"]) {
      expect((await request(path)).name, path).to.equal("cache");
    }
    expect((await request("/audio/ab", { method: "PURGE" })).name).to.equal("cache");
  });

  it("balances all other requests over the instances", async () => {
    const init = { method: "POST", body: "{}" };
    const names = [];
    for (let count = 0; count < 6; count++) names.push((await request("/v2/text/synthesize", init)).name);
    expect(new Set(names)).to.deep.equal(new Set(["one", "two"]));
    expect((await request("/v2/config")).name).to.be.oneOf(["one", "two"]);
  });

  it("serves the admin API only on the operators' frontend and hides metrics from the public one", async () => {
    for (const path of ["/admin", "/admin/keys", "/ADMIN/keys", "/metrics"]) {
      expect((await request(path)).status, path).to.equal(404);
    }
    expect((await request("/admin/keys", {}, haproxy.operatorsUrl)).name).to.be.oneOf(["one", "two"]);
  });

  it("replaces a client's forwarded and trace headers with the client's real address", async () => {
    const spoofed = {
      "X-Forwarded-For": "203.0.113.9",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-Host": "elsewhere.example",
      traceparent: `00-${"1".repeat(32)}-${"1".repeat(16)}-01`,
      tracestate: "a=b",
    };
    const { headers } = await request("/v2/config", { headers: spoofed });
    expect(headers).to.include({ "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "http" });
    expect(headers).not.to.have.any.keys("x-forwarded-host", "traceparent", "tracestate");
  });

  it("forwards the first part of a streamed response before the rest is sent", async () => {
    const response = await fetch(`${haproxy.publicUrl}/v2/slow`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).to.equal("first");
    one.sendRest();
    two.sendRest();
    expect((await reader?.read())?.value).to.equal("rest");
  });

  it("routes WebSocket connections to an instance, bypassing the cache", async () => {
    const socket = new WebSocket(`${haproxy.publicUrl.replace("http", "ws")}/v2/text/stream`);
    const [name] = await once(socket, "message");
    expect(String(name)).to.be.oneOf(["one", "two"]);
    socket.send("hello");
    expect(String((await once(socket, "message"))[0])).to.equal("hello");
    socket.terminate();
  });

  it("sends no requests to an instance that is not ready", async () => {
    one.setReady(false);
    let others = 0;
    await until("/v2/config", (name) => {
      others = name === "two" ? others + 1 : 0;
      return others === 10;
    });
  });

  it("routes cacheable requests to the instances when the cache is down", async () => {
    cache.setReady(false);
    await until("/audio/ab.mp3", (name) => name !== "cache");
  });
});
