import { randomUUID } from "node:crypto";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type Koa from "koa";
import { Invalid } from "../domain/errors.ts";
import { type ErrorAnswer, presentError } from "./errors.ts";
import { sendError } from "./reply.ts";
import type { Lane } from "./synthesis/lane.ts";

export interface HttpServer {
  /** Where it listens. */
  readonly url: string;
  /** Takes no more connections, answers what is in flight, and ends whatever is still open after so many milliseconds. */
  drain(patienceMs: number): Promise<void>;
}

/** Room for the longest text in an address (4 bytes a character, 3 letters a byte) and the headers beside it. */
const headerBytes = (maxTextCharacters: number): number => maxTextCharacters * 12 + 16 * 1024;

/** @throws when the address is taken or not allowed */
export const listen = async ({
  app,
  lane,
  host,
  port,
  maxTextCharacters,
}: {
  app: Koa;
  lane: Lane;
  host: string;
  port: number;
  maxTextCharacters: number;
}): Promise<HttpServer> => {
  const handle = app.callback() as RequestListener;
  let draining = false;
  const serve: RequestListener = (req, res) => {
    if (draining) res.setHeader("Connection", "close");
    if (req.headers.host === undefined && req.httpVersion === "1.1") return void refuseNamelessHost(res);
    if (!lane(req, res)) handle(req, res);
  };
  const server = createServer(
    {
      maxHeaderSize: headerBytes(maxTextCharacters),
      requestTimeout: 60_000,
      headersTimeout: 20_000,
      requireHostHeader: false, // required below, with the envelope that Node's own 400 has not
    },
    serve,
  );
  // An expectation that nobody knows is left alone, as RFC 9110 lets us: Node's own 417 has no envelope.
  server.on("checkExpectation", serve);
  server.on("clientError", refuseUnreadable);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    url: urlOf(server),
    drain: async (patienceMs) => {
      draining = true;
      const closed = new Promise((resolve) => server.close(resolve));
      // A connection that is kept alive is idle, and closed, as soon as its last answer is out.
      const sweep = setInterval(() => server.closeIdleConnections(), 20);
      const late = setTimeout(() => server.closeAllConnections(), patienceMs);
      await closed;
      clearInterval(sweep);
      clearTimeout(late);
    },
  };
};

const urlOf = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
};

/** HTTP/1.1 asks for it, whether or not it is of any use (RFC 9112, section 3.2). */
const refuseNamelessHost = (res: ServerResponse): ErrorAnswer =>
  sendError(res, new Invalid([{ path: ["Host"], message: "Host is required." }]), {
    "X-Request-Id": randomUUID(),
  });

/** A request that is not HTTP, or too large to be one, still gets the envelope. */
const refuseUnreadable = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const message = "The request cannot be read.";
  const { body } = presentError(new Invalid([{ path: [], message }]));
  const [status, reason] = error.code === "HPE_HEADER_OVERFLOW" ? tooLarge : badRequest;
  const json = JSON.stringify({ error: { ...body.error, statusCode: status } });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(json)}\r\nCache-Control: no-store\r\n` +
      `X-Request-Id: ${randomUUID()}\r\nConnection: close\r\n\r\n${json}`,
  );
};

const badRequest = [400, "Bad Request"] as const;
const tooLarge = [431, "Request Header Fields Too Large"] as const;
