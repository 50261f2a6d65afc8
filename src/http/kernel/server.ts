import { randomUUID } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type Koa from "koa";
import { Invalid } from "../../domain/errors.ts";
import { type ErrorAnswer, HeadersTooLarge, TooSlow } from "./errors.ts";
import { refuseConnection } from "./refuse-connection.ts";
import { sendError } from "./reply.ts";

/** Answers the request if it can do so at once; false leaves it, untouched, to the application. */
export type FastPath = (req: IncomingMessage, res: ServerResponse) => boolean;

/** Takes over connections that leave HTTP. */
export interface Upgrade {
  /** Whether the request is one to leave with. To any other its wish is left aside: it is answered as it would be without. */
  accepts(request: IncomingMessage): boolean;
  /** Has the connection from now on, with what of it was read already. */
  take(request: IncomingMessage, connection: Duplex, head: Buffer): void;
}

export interface HttpServer {
  /** Where it listens. */
  readonly url: string;
  /**
   * Takes no more connections, answers what is in flight, and ends whatever is still open after so many milliseconds;
   * but waits for connections that were upgraded, which are not its own any more.
   */
  drain(patienceMs: number): Promise<void>;
}

/** Room for the longest text in an address (4 bytes a character, 3 letters a byte) and the headers beside it. */
const headerBytes = (maxTextCharacters: number): number => maxTextCharacters * 12 + 16 * 1024;

/**
 * Longer than proxies keep idle connections (60 s in nginx, Varnish and most balancers): the proxy closes first, so that
 * it never sends a request over a connection that the service is just closing.
 */
const keepAliveMs = 75_000;

/** @throws when the address is taken or not allowed */
export const listen = async ({
  app,
  fastPath,
  upgrade,
  host,
  port,
  maxTextCharacters,
  silenceMs = 120_000,
}: {
  app: Koa;
  fastPath: FastPath;
  upgrade?: Upgrade;
  host: string;
  port: number;
  maxTextCharacters: number;
  /** How long a connection may stand still, in both directions, while it is owed an answer. */
  silenceMs?: number;
}): Promise<HttpServer> => {
  const handle = app.callback() as RequestListener;
  let draining = false;
  const serve: RequestListener = (req, res) => {
    if (draining) res.setHeader("Connection", "close");
    if (req.headers.host === undefined && req.httpVersion === "1.1") return void refuseNamelessHost(res);
    if (!fastPath(req, res)) handle(req, res);
  };
  const server = createServer(
    {
      maxHeaderSize: headerBytes(maxTextCharacters),
      requestTimeout: 60_000,
      headersTimeout: 20_000, // begins with a request's first byte: idle connections are not subject to it
      keepAliveTimeout: keepAliveMs,
      requireHostHeader: false, // required below, with the envelope that Node's own 400 has not
      shouldUpgradeCallback: (request) => upgrade?.accepts(request) ?? false,
    },
    serve,
  );
  // An expectation that nobody knows is left alone, as RFC 9110 lets us: Node's own 417 has no envelope.
  server.on("checkExpectation", serve);
  server.on("clientError", refuseUnreadable);
  if (upgrade) server.on("upgrade", upgrade.take);
  // Of a client that never reads: a socket whose bytes are taken, however slowly, is not silent.
  server.setTimeout(silenceMs);
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

/** A request that is not HTTP, too large or too slow to be one, still gets the envelope. */
const refuseUnreadable = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (refused.has(socket)) return; // told once for each chunk that still comes
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  refused.add(socket);
  refuseConnection(socket, unreadable(error.code));
};

const refused = new WeakSet<Socket>();

const unreadable = (code: string | undefined): Error => {
  if (code === "HPE_HEADER_OVERFLOW") return new HeadersTooLarge();
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new TooSlow();
  return new Invalid([{ path: [], message: "The request cannot be read." }]);
};
