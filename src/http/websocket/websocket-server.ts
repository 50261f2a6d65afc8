import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { type ServerOptions, WebSocketServer } from "ws";
import { systemTime, type Time } from "../../async/time.ts";
import { Invalid } from "../../domain/errors.ts";
import { describeRefusal, isInternalError } from "../kernel/errors/error-codes.ts";
import { refuseConnection } from "../kernel/errors/refuse-connection.ts";
import type { AdmitHandshake, HandshakeDecision } from "./admission.ts";
import { ExplainedWebSocket } from "./close.ts";
import { isHandshake, streamPath } from "./handshake.ts";
import { OpenSockets, type SocketLimits } from "./open-sockets.ts";
import { shuttingDown } from "./session.ts";
import type { SynthesisServices } from "./syntheses.ts";

/** Accepts WebSockets and serves syntheses over them. */
export type SynthesisSocketServer = ReturnType<typeof createSynthesisSocketServer>;

type Headers = Readonly<Record<string, string>>;

/** The time that a client may take to respond to a close frame. */
const closeTimeoutMs = 5_000;

export const createSynthesisSocketServer = ({
  admit,
  services,
  limits,
  maxTextCharacters,
  log,
  time = systemTime,
}: {
  admit: AdmitHandshake;
  services: SynthesisServices;
  limits: SocketLimits;
  /** The maximum length of a text, in code points. */
  maxTextCharacters: number;
  log: Logger;
  time?: Time;
}) => {
  const server = new WebSocketServer(serverOptions(maxTextCharacters));
  const sockets = new OpenSockets({ services, limits, log, time });
  const acceptHeaders = new WeakMap<IncomingMessage, Headers>();
  let isDraining = false;

  server.on("headers", (lines, handshake) => {
    for (const [name, value] of Object.entries(acceptHeaders.get(handshake) ?? {}))
      lines.push(`${name}: ${value}`);
  });
  // `isHandshake` has validated everything but the syntax of the list of subprotocols.
  server.on("wsClientError", (_error, connection, handshake) => {
    const invalid = new Invalid([{ path: [], message: "The list of subprotocols is invalid." }]);
    refuse(connection, invalid, acceptHeaders.get(handshake) ?? {}, log);
  });

  const decide = async (handshake: IncomingMessage): Promise<HandshakeDecision> => {
    if (isDraining) return draining;
    const decision = await admit(handshake);
    if (!isDraining) return decision;
    decision.caller?.release();
    return draining;
  };

  const take = async (handshake: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> => {
    connection.once("error", ignoreError);
    const { caller, refusal, headers: limitHeaders } = await decide(handshake);
    connection.off("error", ignoreError);
    const headers = { "X-Request-Id": randomUUID(), ...limitHeaders };
    if (!caller) return refuse(connection, refusal, headers, log);
    acceptHeaders.set(handshake, headers);
    let isOpen = false;
    // `ws` calls back at once, or never.
    server.handleUpgrade(handshake, connection, head, (socket) => {
      isOpen = true;
      sockets.open(socket, caller);
    });
    if (!isOpen) caller.release();
  };

  return {
    accepts: isHandshake,
    take: (handshake: IncomingMessage, connection: Duplex, head: Buffer) =>
      void take(handshake, connection, head),
    /**
     * Refuses new sockets and syntheses, and closes each socket when its syntheses have ended.
     * After the timeout the remaining ones end with a retryable error.
     */
    drain: async (timeoutMs: number): Promise<void> => {
      isDraining = true;
      await sockets.drain(timeoutMs);
    },
  };
};

const draining: HandshakeDecision = { refusal: shuttingDown, headers: {} };

/**
 * Ignores errors until the handshake is decided: they close the connection. Without a listener,
 * they would end the process.
 */
const ignoreError = (): void => {};

/**
 * Responds in HTTP, before a socket opens: clients reset their reconnect counters when a socket
 * opens.
 */
const refuse = (connection: Duplex, error: unknown, headers: Headers, log: Logger): void => {
  const response = refuseConnection(connection, error, headers);
  const about = { route: streamPath, requestId: headers["X-Request-Id"] };
  if (isInternalError(response)) log.error({ ...about, err: error }, "failed");
  log.info({ ...about, status: response.status, ...describeRefusal(error) }, "handshake refused");
};

/** Options of `ws` that its types lack. */
interface UntypedOptions {
  readonly closeTimeout: number;
  readonly maxFragments: number;
  readonly maxBufferedChunks: number;
}

const serverOptions = (maxTextCharacters: number): ServerOptions & UntypedOptions => ({
  noServer: true,
  WebSocket: ExplainedWebSocket,
  clientTracking: false,
  perMessageDeflate: false,
  // The longest text with each character escaped in 12 bytes (a surrogate pair), and the other
  // members.
  maxPayload: maxTextCharacters * 12 + 16 * 1024,
  // With false, one message is handled per turn of the event loop, so that no socket keeps the
  // others waiting.
  allowSynchronousEvents: false,
  // A fragment takes more memory than its bytes until the message is complete.
  maxFragments: 1_024,
  maxBufferedChunks: 1_024,
  closeTimeout: closeTimeoutMs,
  handleProtocols: () => false,
});
