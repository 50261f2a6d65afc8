import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { type HttpServer, listen } from "../../../src/http/kernel/server.ts";
import { sendBytes } from "../../support/exchange.ts";
import { type Respond, routerOf, routerTo, testApp } from "../../support/operation-server.ts";

/** Listens on a free port with one response to all requests; without one, no path is known. */
const serve = (
  respond: Respond | undefined,
  options: Pick<Parameters<typeof listen>[0], "inactivityMs" | "upgrade" | "onMalformed"> = {},
): Promise<HttpServer> => {
  return listen({
    handle: testApp(respond ? routerTo(respond) : routerOf([])),
    host: "127.0.0.1",
    port: 0,
    maxTextCharacters: 100,
    ...options,
  });
};

const connected = async ({ url }: HttpServer): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  return socket.on("error", () => {});
};

const readResponse = (response: string) => {
  const [head = "", body = ""] = response.split("\r\n\r\n");
  const [line = "", ...headers] = head.toLowerCase().split("\r\n");
  return { status: Number(line.split(" ")[1]), headers: headers.join("\n"), body: JSON.parse(body) };
};

describe("the HTTP server", () => {
  describe("sends the error envelope with a request id for", () => {
    let server: HttpServer;

    before(async () => {
      const take = () => expect.fail("The connection was upgraded.");
      server = await serve(undefined, { upgrade: { accepts: () => true, take } });
    });
    after(() => server.drain(0));

    for (const [what, bytes, status, code] of [
      ["bytes that are not HTTP", "NONSENSE\r\n\r\n", 400, "VALIDATION_ERROR"],
      ["HTTP/1.1 without a Host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "VALIDATION_ERROR"],
      ["two Host headers", "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400, "VALIDATION_ERROR"],
      [
        "HTTP/1.0 with two Host headers",
        "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n",
        400,
        "VALIDATION_ERROR",
      ],
      ["HTTP/0.9", "GET /\r\n\r\n", 400, "VALIDATION_ERROR"],
      ["HTTP/0.9 with its version", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", 400, "VALIDATION_ERROR"],
      ["HTTP/2.0 in a request line", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400, "VALIDATION_ERROR"],
      ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "VALIDATION_ERROR"],
      [
        "a WebSocket handshake with two Host headers",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        400,
        "VALIDATION_ERROR",
      ],
      ["an unknown expectation", "GET / HTTP/1.1\r\nHost: x\r\nExpect: foo\r\n\r\n", 404, "NOT_FOUND"],
      [
        "a header that is too long",
        `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(500_000)}\r\n\r\n`,
        431,
        "REQUEST_HEADER_FIELDS_TOO_LARGE",
      ],
      [
        "two Content-Length headers",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        400,
        "VALIDATION_ERROR",
      ],
    ] as const) {
      it(`${what}: ${status}`, async () => {
        const response = readResponse(await sendBytes(server.url, bytes));
        expect(response.status).to.equal(status);
        expect(response.headers).to.match(/^x-request-id: [0-9a-f-]{36}$/m);
        expect(response.headers).to.match(/^cache-control: no-store$/m);
        expect(response.body.error).to.include({ statusCode: status, code });
      });
    }
  });

  it("reports requests that cannot be read, with the id of the response", async () => {
    const reported: [string, string][] = [];
    const onMalformed = ({ message }: Error, requestId: string) => void reported.push([message, requestId]);
    const server = await serve(undefined, { onMalformed });
    const { headers } = readResponse(await sendBytes(server.url, "NONSENSE\r\n\r\n"));
    const [, id = ""] = /^x-request-id: (.*)$/m.exec(headers) ?? [];
    expect(reported).to.deep.equal([["The request cannot be read as HTTP/1.1.", id]]);
    await server.drain(0);
  });

  it("says that a URL with letters beyond ASCII must be percent-encoded", async () => {
    const server = await serve(undefined);
    const { body } = readResponse(await sendBytes(server.url, "GET /?text=é HTTP/1.1\r\nHost: x\r\n\r\n"));
    expect(body.error.message).to.equal("The URL contains characters that must be percent-encoded.");
    await server.drain(0);
  });

  it("ignores preferences that are longer than any client's, and sorts no list of thousands", async () => {
    let seen: unknown;
    const server = await serve((ctx) => {
      seen = { ...ctx.req.headers };
      ctx.body = {};
    });
    const list = "br;q=0.1,".repeat(150);
    await sendBytes(
      server.url,
      `GET / HTTP/1.0\r\nAccept: ${list}\r\nAccept-Encoding: ${list}\r\nX: y\r\n\r\n`,
    );
    expect(seen).to.deep.equal({ x: "y" });
    await sendBytes(server.url, "GET / HTTP/1.0\r\nAccept: a/b\r\nAccept-Encoding: br\r\n\r\n");
    expect(seen).to.deep.equal({ accept: "a/b", "accept-encoding": "br" });
    await server.drain(0);
  });

  it("keeps idle connections open longer than proxies do", async () => {
    const server = await serve((ctx) => {
      ctx.body = "whole";
    });
    const { headers } = await fetch(server.url);
    expect(headers.get("keep-alive")).to.equal("timeout=75");
    await server.drain(0);
  });

  it("disconnects a client that never reads", async () => {
    const left = Promise.withResolvers<void>();
    const server = await serve(
      (ctx) => {
        ctx.body = Buffer.alloc(64 * 1024 * 1024);
        ctx.res.once("close", left.resolve);
      },
      { inactivityMs: 200 },
    );
    const client = await connected(server);
    client.pause().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await left.promise;
    client.destroy();
    await server.drain(0);
  });

  for (const version of ["1.0", "1.1"])
    it(`keeps the connection of a client that waits for a response, however long, over HTTP/${version}`, async () => {
      const server = await serve(
        async (ctx) => {
          await once(ctx.res, "timeout");
          ctx.body = "whole";
        },
        { inactivityMs: 50 },
      );
      const client = await connected(server);
      client.write(`GET / HTTP/${version}\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(await text(client)).to.match(/\r\n\r\nwhole$/);
      await server.drain(0);
    });

  describe("with several requests on one connection at once", () => {
    const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    const last = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

    it("serves sixteen that wait for another response, however often", async () => {
      const server = await serve((ctx) => {
        ctx.body = "served";
      });
      const socket = await connected(server);
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
      });
      for (let round = 1; round <= 3; round++) {
        socket.write(request.repeat(17));
        while (text.split("served").length - 1 < round * 17) await once(socket, "data");
      }
      socket.end(last);
      await once(socket, "close");
      await server.drain(0);
    });

    it("disconnects a client that sends more, and serves none of them", async () => {
      let served = 0;
      const server = await serve(() => {
        served += 1;
        return new Promise(() => {});
      });
      const socket = await connected(server);
      socket.write(request.repeat(1_000));
      await once(socket, "close");
      expect(served).to.equal(17);
      await server.drain(0);
    });
  });

  it("completes pending requests and accepts no more when it drains", async () => {
    const begun = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const server = await serve(async (ctx) => {
      begun.resolve();
      await released.promise;
      ctx.body = "whole";
    });
    const flight = fetch(server.url);
    await begun.promise;
    const drained = server.drain(60_000);
    const refused = await fetch(server.url).catch((error) => error.cause.code);
    expect(refused).to.equal("ECONNREFUSED");
    released.resolve();
    const response = await flight;
    expect(await response.text()).to.equal("whole");
    await drained;
  });

  it("destroys the remaining connections when the drain timeout ends", async () => {
    const begun = Promise.withResolvers<void>();
    const server = await serve(() => {
      begun.resolve();
      return new Promise(() => {});
    });
    const flight = fetch(server.url).catch((error) => error.message);
    await begun.promise;
    await server.drain(1);
    expect(await flight).to.equal("fetch failed");
  });
});
