import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import { type Clock, systemClock } from "../../async/clock.ts";
import { withDeadline } from "../../async/deadline.ts";
import { Invalid, RateLimited } from "../../domain/errors.ts";
import { isOurFault } from "../kernel/errors.ts";
import { refuseConnection } from "../kernel/refuse-connection.ts";
import type { Upgrade } from "../kernel/server.ts";
import type { AdmitHandshake, HandshakeDecision, SocketCaller } from "./admission.ts";
import { ExplainedWebSocket } from "./close.ts";
import { isHandshake, streamPath } from "./handshake.ts";
import { openSession, type Session, shuttingDown } from "./session.ts";
import type { SynthesisServices } from "./syntheses.ts";

export interface SocketLimits {
  /** Open sockets per key. */
  readonly socketsPerKey: number;
  /** Syntheses in progress per socket. */
  readonly streamsPerSocket: number;
  /** WebSocket idle timeout. */
  readonly idleMs: number;
  /** How long a client may read nothing of what was sent to it. */
  readonly stallMs: number;
  /** The maximum length of a text, in code points. */
  readonly maxTextCharacters: number;
}

/** Accepts WebSockets and serves syntheses over them. */
export interface SynthesisSocketServer extends Upgrade {
  /**
   * Refuses new sockets and syntheses, and closes each socket when its syntheses have ended. After the timeout the
   * remaining ones end with a retryable error.
   */
  drain(timeoutMs: number): Promise<void>;
}

type Headers = Readonly<Record<string, string>>;

/** How long a client may take to answer a close frame, and to receive the last messages at shutdown. */
const closeTimeoutMs = 5_000;
const abortTimeoutMs = 500;
/** `Retry-After` for a key that has too many sockets open. */
const socketsRetrySeconds = 10;

export const createSynthesisSocketServer = ({
  admit,
  services,
  limits,
  log,
  clock = systemClock,
}: {
  admit: AdmitHandshake;
  services: SynthesisServices;
  limits: SocketLimits;
  log: Logger;
  clock?: Clock;
}): SynthesisSocketServer => {
  const server = new WebSocketServer(serverOptions(limits));
  const sessionsByKey = new Map<string, Set<Session>>();
  const allSessions = (): Session[] => [...sessionsByKey.values()].flatMap((sessions) => [...sessions]);
  const acceptHeaders = new WeakMap<IncomingMessage, Headers>();
  let isDraining = false;
  let stopChecking: (() => void) | undefined;

  server.on("headers", (lines, handshake) => {
    for (const [name, value] of Object.entries(acceptHeaders.get(handshake) ?? {}))
      lines.push(`${name}: ${value}`);
  });
  // `isHandshake` has validated everything but the syntax of the list of subprotocols.
  server.on("wsClientError", (_error, connection, handshake) => {
    const invalid = new Invalid([{ path: [], message: "The list of subprotocols is invalid." }]);
    refuse(connection, invalid, acceptHeaders.get(handshake) ?? {});
  });

  const decide = (handshake: IncomingMessage): HandshakeDecision => {
    if (isDraining) return { refusal: shuttingDown, headers: {} };
    const decision = admit(handshake);
    const { caller, headers } = decision;
    const isFull = caller && (sessionsByKey.get(caller.apiKey)?.size ?? 0) >= limits.socketsPerKey;
    return isFull ? { refusal: tooManySockets(limits.socketsPerKey), headers } : decision;
  };

  /** Answers in HTTP, before a socket opens: clients reset their reconnect counters when one does. */
  const refuse = (connection: Duplex, error: unknown, headers: Headers): void => {
    const answer = refuseConnection(connection, error, headers);
    const about = { route: streamPath, requestId: headers["X-Request-Id"] };
    if (isOurFault(answer)) log.error({ ...about, err: error }, "failed");
    log.info({ ...about, status: answer.status, code: answer.body.error.code }, "handshake refused");
  };

  const open = (socket: WebSocket, { apiKey, admit }: SocketCaller): void => {
    const session = openSession({
      ...{ socket, admit, services, clock },
      maxStreams: limits.streamsPerSocket,
      timeouts: limits,
      log: log.child({ route: streamPath, apiKey }),
    });
    const sessions = sessionsByKey.get(apiKey) ?? new Set();
    sessionsByKey.set(apiKey, sessions.add(session));
    void session.ended.then(() => {
      sessions.delete(session);
      if (sessions.size === 0) sessionsByKey.delete(apiKey);
    });
    checkPeriodically();
  };

  /** Checks the liveness of all sockets while there are any. */
  const checkPeriodically = (): void => {
    if (stopChecking || sessionsByKey.size === 0) return;
    stopChecking = clock.after(Math.min(limits.idleMs, limits.stallMs, 4_000) / 4, () => {
      stopChecking = undefined;
      for (const session of allSessions()) session.checkLiveness();
      checkPeriodically();
    });
  };

  const settlesWithin = (promise: Promise<unknown>, ms: number): Promise<boolean> =>
    withDeadline({ clock, ms, onTimeout: () => new Error("The deadline has passed.") }, () => promise).then(
      () => true,
      () => false,
    );

  return {
    accepts: isHandshake,
    take: (handshake, connection, head) => {
      const { caller, refusal, headers: limitHeaders } = decide(handshake);
      const headers = { "X-Request-Id": randomUUID(), ...limitHeaders };
      if (!caller) return refuse(connection, refusal, headers);
      acceptHeaders.set(handshake, headers);
      server.handleUpgrade(handshake, connection, head, (socket) => open(socket, caller));
    },
    drain: async (timeoutMs) => {
      isDraining = true;
      const sessions = allSessions();
      const ended = Promise.all(sessions.map((session) => session.ended));
      for (const session of sessions) session.drain();
      if (!(await settlesWithin(ended, timeoutMs))) {
        for (const session of sessions) session.abort();
        await settlesWithin(ended, abortTimeoutMs);
      }
      for (const session of sessions) session.terminate();
      await settlesWithin(ended, abortTimeoutMs);
      stopChecking?.();
    },
  };
};

/** Options of `ws` that its types lack. */
interface UntypedOptions {
  readonly closeTimeout: number;
  readonly maxFragments: number;
  readonly maxBufferedChunks: number;
}

const serverOptions = ({ maxTextCharacters }: SocketLimits): ServerOptions & UntypedOptions => ({
  noServer: true,
  WebSocket: ExplainedWebSocket,
  clientTracking: false,
  perMessageDeflate: false,
  // The longest text with each character escaped in 12 bytes (a surrogate pair), and the other members.
  maxPayload: maxTextCharacters * 12 + 16 * 1024,
  // One message per turn of the event loop, so that no socket keeps the others waiting.
  allowSynchronousEvents: false,
  // A fragment takes more memory than its bytes until the message is complete.
  maxFragments: 1_024,
  maxBufferedChunks: 1_024,
  closeTimeout: closeTimeoutMs,
  handleProtocols: () => false,
});

const tooManySockets = (maxSockets: number): RateLimited =>
  new RateLimited(
    `The key has ${maxSockets} sockets open, the maximum: close one or try again later.`,
    "sockets",
    socketsRetrySeconds,
  );
