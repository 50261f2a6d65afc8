import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
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
  /** Sockets that a key may have open at once. */
  readonly socketsPerKey: number;
  /** Syntheses under way at once on one socket. */
  readonly streamsPerSocket: number;
  /** How long a socket may be there for nothing. */
  readonly idleMs: number;
  /** How long a reader may take nothing of what waits for it. */
  readonly stallMs: number;
  /** The longest text, in code points. */
  readonly maxTextCharacters: number;
}

/** Speech over WebSockets. */
export interface SynthesisSocketServer extends Upgrade {
  /**
   * Begins nothing more and closes each socket when what is under way on it has ended. After so many milliseconds the
   * rest is broken off, told as to be asked for again.
   */
  drain(patienceMs: number): Promise<void>;
}

/** The longest text, each character written as 12 letters (a surrogate pair, both halves escaped), and what stands around it. */
const messageBytes = (maxTextCharacters: number): number => maxTextCharacters * 12 + 16 * 1024;

/** How long a peer may take to answer a close frame, and, when the process ends, to receive the last one. */
const closingMs = 5_000;
const farewellMs = 500;
/** When a client whose key has too many sockets open should try again. */
const socketsRetrySeconds = 10;

export const createSynthesisSocketServer = ({
  enter,
  speaking,
  limits,
  log,
}: {
  enter: AdmitHandshake;
  speaking: SynthesisServices;
  limits: SocketLimits;
  log: Logger;
}): SynthesisSocketServer => {
  const server = new WebSocketServer(optionsOf(limits));
  const sessions = new Map<string, Set<Session>>();
  const all = (): Session[] => [...sessions.values()].flatMap((ofKey) => [...ofKey]);
  const acceptHeaders = new WeakMap<IncomingMessage, Headers>();
  let draining = false;

  server.on("headers", (lines, handshake) => {
    for (const [name, value] of Object.entries(acceptHeaders.get(handshake) ?? {}))
      lines.push(`${name}: ${value}`);
  });
  // `isHandshake` has checked everything but the syntax of the list of subprotocols.
  server.on("wsClientError", (_error, connection, handshake) => {
    const invalid = new Invalid([{ path: [], message: "The handshake cannot be read." }]);
    refuse(connection, invalid, acceptHeaders.get(handshake) ?? {});
  });

  const decide = (handshake: IncomingMessage): HandshakeDecision => {
    if (draining) return { refusal: shuttingDown, headers: {} };
    const decision = enter(handshake);
    const { guest, headers } = decision;
    const isFull = guest && (sessions.get(guest.apiKey)?.size ?? 0) >= limits.socketsPerKey;
    return isFull ? { refusal: tooMany(limits.socketsPerKey), headers } : decision;
  };

  /** In HTTP, before any socket opens: clients reset their reconnect counters when one does. */
  const refuse = (connection: Duplex, error: unknown, headers: Headers): void => {
    const answer = refuseConnection(connection, error, headers);
    const about = { route: streamPath, requestId: headers["X-Request-Id"] };
    if (isOurFault(answer)) log.error({ ...about, err: error }, "failed");
    log.info({ ...about, status: answer.status, code: answer.body.error.code }, "handshake refused");
  };

  const open = (socket: WebSocket, { apiKey, admit }: SocketCaller): void => {
    const { streamsPerSocket: streamsAtMost, ...patience } = limits;
    const session = openSession({
      ...{ socket, admit, speaking, streamsAtMost, patience },
      log: log.child({ route: streamPath, apiKey }),
    });
    const ofKey = sessions.get(apiKey) ?? new Set();
    sessions.set(apiKey, ofKey.add(session));
    void session.ended.then(() => {
      ofKey.delete(session);
      if (ofKey.size === 0) sessions.delete(apiKey);
    });
  };

  const everyMs = Math.min(limits.idleMs, limits.stallMs, 4_000) / 4;
  const looking = setInterval(() => all().forEach(look), everyMs).unref(); // no start that failed is kept alive by it

  return {
    accepts: isHandshake,
    take: (handshake, connection, head) => {
      const { guest, refusal, headers: limits } = decide(handshake);
      const headers = { "X-Request-Id": randomUUID(), ...limits };
      if (!guest) return refuse(connection, refusal, headers);
      acceptHeaders.set(handshake, headers);
      server.handleUpgrade(handshake, connection, head, (socket) => open(socket, guest));
    },
    drain: async (patienceMs) => {
      draining = true;
      const there = all();
      const ended = Promise.all(there.map((session) => session.ended));
      for (const session of there) session.drain();
      if (!(await endsWithin(ended, patienceMs))) {
        for (const session of there) session.abort();
        await endsWithin(ended, farewellMs);
      }
      for (const session of there) session.terminate();
      await endsWithin(ended, farewellMs);
      clearInterval(looking);
    },
  };
};

/** Options that the library has and its types do not tell of. */
interface MoreOptions {
  readonly closeTimeout: number;
  readonly maxFragments: number;
  readonly maxBufferedChunks: number;
}

type Headers = Readonly<Record<string, string>>;

const optionsOf = ({ maxTextCharacters }: SocketLimits): ServerOptions & MoreOptions => ({
  noServer: true,
  WebSocket: ExplainedWebSocket,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: messageBytes(maxTextCharacters),
  // Each costs more than its bytes while a message is gathered.
  maxFragments: 1_024,
  maxBufferedChunks: 1_024,
  closeTimeout: closingMs,
  handleProtocols: () => false,
});

const look = (session: Session): void => session.checkLiveness();

const tooMany = (atMost: number): RateLimited =>
  new RateLimited(
    `The key has ${atMost} sockets open, the maximum: close one or try again later.`,
    "sockets",
    socketsRetrySeconds,
  );

const endsWithin = async (end: Promise<unknown>, ms: number): Promise<boolean> => {
  const over = new AbortController();
  try {
    return await Promise.race([end.then(() => true), delay(ms, false, { signal: over.signal })]);
  } finally {
    over.abort();
  }
};
