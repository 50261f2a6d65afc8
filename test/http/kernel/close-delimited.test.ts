import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { respondWithText } from "../../../src/http/kernel/respond.ts";
import { type HttpServer, listen } from "../../../src/http/kernel/server.ts";
import { type Respond, routerTo, testApp } from "../../support/operation-server.ts";
import { rejection } from "../../support/rejection.ts";

describe("a text response that is cut", () => {
  let server: HttpServer;
  let release: PromiseWithResolvers<void>;
  beforeEach(() => {
    release = Promise.withResolvers();
  });
  afterEach(() => server.drain(0));

  const serve = async (respond: Respond, inactivityMs?: number): Promise<void> => {
    const limits = { maxTextCharacters: 100, ...(inactivityMs && { inactivityMs }) };
    server = await listen({ handle: testApp(routerTo(respond)), host: "127.0.0.1", port: 0, ...limits });
  };
  /** The connection of a request whose response has begun. Nothing is read from it. */
  const begin = async (version: string, headers = ""): Promise<Socket> => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET / HTTP/${version}\r\nHost: x\r\n${headers}\r\n`);
    await once(socket, "readable");
    return socket;
  };
  const rest = async (socket: Socket): Promise<string> => Buffer.concat(await socket.toArray()).toString();

  /** Responds with one line, and whatever follows `release`. */
  const lines =
    (failure?: Error): Respond =>
    (ctx) =>
      respondWithText(
        ctx,
        (async function* () {
          yield "line\n";
          await release.promise;
          if (failure) throw failure;
        })(),
        "text/plain",
      );
  /**
   * Responds with more than the buffers of a connection take. Resolves when the connection is
   * closed.
   */
  const serveEndless = async (inactivityMs: number, headers: Record<string, string> = {}): Promise<void> => {
    await serve((ctx) => {
      ctx.res.once("close", release.resolve);
      ctx.respond = false;
      ctx.res.writeHead(200, headers);
      ctx.res.write(Buffer.alloc(64 * 1024 * 1024));
    }, inactivityMs);
  };

  describe("over HTTP/1.0, where the end of the connection is the end of the body, resets the connection", () => {
    it("when the text fails", async () => {
      await serve(lines(new Error("the log cannot be read")));
      const socket = await begin("1.0");
      release.resolve();
      expect(await rejection(rest(socket))).to.include({ code: "ECONNRESET" });
    });

    it("when the drain timeout ends", async () => {
      await serve(lines());
      const socket = await begin("1.0");
      const received = rejection(rest(socket));
      await server.drain(1);
      expect(await received).to.include({ code: "ECONNRESET" });
    });

    it("when the client does not read", async () => {
      await serveEndless(200);
      const socket = await begin("1.0");
      await release.promise;
      expect(await rejection(rest(socket))).to.include({ code: "ECONNRESET" });
    });
  });

  it("is complete over HTTP/1.0 when the text ends", async () => {
    await serve(lines());
    const socket = await begin("1.0");
    release.resolve();
    expect(await rest(socket)).to.match(/\r\n\r\nline\n$/);
  });

  it("lacks bytes of its Content-Length over HTTP/1.0, and the connection is closed", async () => {
    await serveEndless(200, { "Content-Length": String(64 * 1024 * 1024) });
    const socket = await begin("1.0");
    await release.promise;
    expect((await rest(socket)).length).to.be.lessThan(64 * 1024 * 1024);
  });

  it("lacks its last chunk over HTTP/1.1, and the connection is closed", async () => {
    await serve(lines(new Error("the log cannot be read")));
    const socket = await begin("1.1");
    release.resolve();
    expect(await rest(socket)).to.match(/\r\n\r\n5\r\nline\n\r\n$/);
  });

  it("lacks its last chunk over HTTP/1.1 when the drain timeout ends", async () => {
    await serve(lines());
    const received = rest(await begin("1.1"));
    await server.drain(1);
    expect(await received).to.match(/\r\n\r\n5\r\nline\n\r\n$/);
  });
});
