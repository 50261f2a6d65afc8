import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Invalid, type Problem } from "../../domain/errors.ts";
import { nodeHttp } from "../../node-http.ts";
import { createCloseDelimitedResponses } from "./close-delimited.ts";
import { HeadersTooLarge, TooSlow } from "./errors/error-codes.ts";
import { refuseConnection } from "./errors/refuse-connection.ts";

/** Responds to every request; with the refusal, if there is one. */
export type HandleRequest = (req: IncomingMessage, res: ServerResponse, refusal?: Error) => void;

/** Takes over connections that switch to another protocol. */
export interface Upgrade {
  /** True if the request is accepted. The `Upgrade` header of any other request is ignored. */
  accepts(request: IncomingMessage): boolean;
  /** Takes the connection. `head`: the bytes that were already read from it. */
  take(request: IncomingMessage, connection: Duplex, head: Buffer): void;
}

/**
 * The limit fits the longest text, percent-encoded (4 bytes per character, 3 characters per byte),
 * and the headers.
 */
const headerBytes = (maxTextCharacters: number): number => maxTextCharacters * 12 + 16 * 1024;

/**
 * The time after which idle connections are closed. It exceeds the 60 s of nginx, Varnish and most
 * load balancers: otherwise a proxy could send a request on a connection that is just being closed.
 */
const keepAliveMs = 75_000;

export type HttpServer = Awaited<ReturnType<typeof listen>>;

interface ServerOptions {
  readonly handle: HandleRequest;
  readonly upgrade?: Upgrade;
  readonly maxTextCharacters: number;
  /** Called when a request that cannot be read was refused, unless its client has left. */
  readonly onMalformed?: (refusal: Error, requestId: string) => void;
  /**
   * The time for which a connection may be inactive in both directions, unless its client waits for
   * a response to begin.
   */
  readonly inactivityMs?: number;
}

/** An address, or a socket that is bound already. */
export type ListenAt = { readonly host: string; readonly port: number } | { readonly fd: number };

/** @throws EADDRINUSE or EACCES */
export const listen = async (options: ServerOptions & ListenAt) => {
  const closeDelimited = createCloseDelimitedResponses();
  const server = createHttpServer(options, closeDelimited);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen("fd" in options ? { fd: options.fd } : { host: options.host, port: options.port }, resolve);
  });
  return {
    url: urlOf(server),
    /**
     * Accepts no more connections, and completes pending requests. After the timeout it destroys
     * the remaining connections, in a way that no truncated response looks complete. It waits for
     * upgraded connections, which it does not own. For `idleMs`, an idle connection may send one
     * more request, whose response closes it. After that, idle connections are closed.
     */
    drain: async (timeoutMs: number, idleMs = 0): Promise<void> => {
      const closed = new Promise<void>((resolve) => stopAccepting(server, resolve));
      const from = performance.now() + idleMs;
      // Keep-alive connections become idle after their last response.
      const sweep = setInterval(() => {
        if (performance.now() >= from) server.closeIdleConnections();
      }, 20);
      const timeout = setTimeout(() => {
        closeDelimited.resetAll();
        server.closeAllConnections();
      }, timeoutMs);
      await closed;
      clearInterval(sweep);
      clearTimeout(timeout);
    },
  };
};

/** Unlike `http.Server.close`, it closes no idle connection. */
const stopAccepting = (server: Server, onClosed: () => void): void => {
  NetServer.prototype.close.call(server, onClosed);
};

/**
 * Responds to every request, including those to which Node would respond without the error
 * envelope.
 */
const createHttpServer = (
  { handle, upgrade, maxTextCharacters, onMalformed = () => {}, inactivityMs = 120_000 }: ServerOptions,
  closeDelimited: Pick<ReturnType<typeof createCloseDelimitedResponses>, "follow">,
): Server => {
  const isExcess = createPipelineLimit();
  const serve: RequestListener = (req, res) => {
    if (isExcess(req, res)) return void req.socket.destroy();
    closeDelimited.follow(res);
    const problem = problemOf(req);
    // After a request with a problem, the rest of the connection cannot be trusted either.
    if (problem || !server.listening) res.setHeader("Connection", "close");
    ignoreLongPreferences(req);
    handle(req, res, problem && new Invalid([problem]));
  };
  const server = nodeHttp.createServer(
    {
      maxHeaderSize: headerBytes(maxTextCharacters),
      requestTimeout: 60_000,
      headersTimeout: 20_000, // begins with the first byte of a request, so it does not affect idle connections
      keepAliveTimeout: keepAliveMs,
      // With this, the stream of a request without a body is destroyed from the start, and never
      // emits `end` or `close`. Experimental in Node 24; ignored before 24.12.
      optimizeEmptyRequests: true,
      requireHostHeader: false, // required above, because Node's own 400 has no error envelope
      shouldUpgradeCallback: (request) => !problemOf(request) && (upgrade?.accepts(request) ?? false),
    },
    serve,
  );
  // Unknown expectations are ignored, as RFC 9110 allows, because Node's own 417 has no error
  // envelope.
  server.on("checkExpectation", serve);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    refuseMalformed(error, socket, onMalformed);
  });
  if (upgrade) server.on("upgrade", upgrade.take);
  // Disconnects clients that never read. Slow clients are not affected.
  return server.setTimeout(inactivityMs);
};

/**
 * The number of requests on one connection that may wait for the responses to earlier ones. No
 * browser or proxy sends a request before it has received the response to the one before.
 */
const maxPipelined = 16;

/**
 * Finds requests beyond this limit. Node serves all requests of a connection at once, and their
 * responses wait for each other: a few connections could fill the memory.
 */
const createPipelineLimit = () => {
  const waiting = new WeakMap<Socket, number>();
  return ({ socket }: IncomingMessage, res: ServerResponse): boolean => {
    if (res.socket) return false; // it waits for no other response
    if (socket.destroyed) return true;
    const before = waiting.get(socket) ?? 0;
    waiting.set(socket, before + 1);
    res.once("close", () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    return before >= maxPipelined;
  };
};

const urlOf = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
};

/**
 * Longer lists of accepted types or encodings are ignored. No client sends them, and sorting a list
 * that fills the headers would take milliseconds.
 */
const longestPreference = 1_000;

const ignoreLongPreferences = ({ headers }: IncomingMessage): void => {
  for (const name of ["accept", "accept-encoding"] as const)
    if ((headers[name]?.length ?? 0) > longestPreference) delete headers[name];
};

/**
 * Finds problems that Node's parser ignores. It accepts requests of HTTP/0.9 and HTTP/2.0, and
 * takes the first of several Host headers, where a proxy may take the last. HTTP/1.1 requires a
 * Host header (RFC 9112, section 3.2).
 */
const problemOf = ({ httpVersion, rawHeaders }: IncomingMessage): Problem | undefined => {
  const isCurrent = httpVersion === "1.1";
  if (!isCurrent && httpVersion !== "1.0")
    return { path: [], message: `HTTP/${httpVersion} is not supported: use HTTP/1.1.` };
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (hosts > 1) return { path: ["Host"], message: "Host is given more than once." };
  return isCurrent && hosts === 0 ? { path: ["Host"], message: "Host is required." } : undefined;
};

/**
 * Malformed, too large and too slow requests get an error envelope too: that of the service,
 * because their path is unknown.
 */
const refuseMalformed = (
  error: NodeJS.ErrnoException,
  socket: Socket,
  onMalformed: NonNullable<ServerOptions["onMalformed"]>,
): void => {
  if (refused.has(socket)) return; // Node emits the event again for every further chunk
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  refused.add(socket);
  const [refusal, requestId] = [malformed(error.code), randomUUID()];
  refuseConnection(socket, refusal, { "X-Request-Id": requestId });
  // The client has ended the connection within a request, which is logged as disconnected.
  if (error.code !== "HPE_INVALID_EOF_STATE") onMalformed(refusal, requestId);
};

const refused = new WeakSet<Socket>();

const malformed = (code: string | undefined): Error => {
  if (code === "HPE_HEADER_OVERFLOW") return new HeadersTooLarge();
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new TooSlow();
  const message =
    code === "HPE_INVALID_URL"
      ? "The URL contains characters that must be percent-encoded."
      : "The request cannot be read as HTTP/1.1.";
  return new Invalid([{ path: [], message }]);
};
