import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import { Invalid, Unavailable } from "../domain/errors.ts";
import { wholeAnswer } from "../http/reply.ts";
import type { Upgrade } from "../http/server.ts";
import type { Admission, Guest } from "./admission.ts";
import { isHandshake, streamPath } from "./handshake.ts";
import { closeCodes, goingDown, openSession, type Session } from "./session.ts";
import type { Speaking } from "./syntheses.ts";
import { isUnexpected, SocketRefusal, toldError } from "./told-error.ts";

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
export interface SpeechSocket extends Upgrade {
  /**
   * Begins nothing more and closes each socket when what is under way on it has ended. After so many milliseconds the
   * rest is broken off, told as to be asked for again.
   */
  drain(patienceMs: number): Promise<void>;
}

/** The longest text, each character written as 12 letters (a surrogate pair, both halves escaped), and what stands around it. */
const messageBytes = (maxTextCharacters: number): number => maxTextCharacters * 12 + 16 * 1024;

/** How long a peer may take to answer our close, and, at the very end, to hear why it was cut off. */
const closingMs = 5_000;
const farewellMs = 500;
/** Sockets that were refused and are not closed yet. */
const refusedAtMost = 100;

export const createSpeechSocket = ({
  enter,
  speaking,
  limits,
  log,
}: {
  enter: Admission;
  speaking: Speaking;
  limits: SocketLimits;
  log: Logger;
}): SpeechSocket => {
  const server = new WebSocketServer(optionsOf(limits));
  const sessions = new Map<string, Set<Session>>();
  const all = (): Session[] => [...sessions.values()].flatMap((ofKey) => [...ofKey]);
  const refused = new Set<WebSocket>();
  let draining = false;

  // What is left for it to find wrong is a list of subprotocols that is none.
  server.on("wsClientError", (_error, socket) => {
    socket.end(wholeAnswer(new Invalid([{ path: [], message: "The handshake cannot be read." }])));
  });

  /** The guest, or what it is refused by. */
  const received = (handshake: IncomingMessage): Guest | Error => {
    try {
      if (draining) throw goingDown;
      const guest = enter(handshake);
      if ((sessions.get(guest.apiKey)?.size ?? 0) >= limits.socketsPerKey)
        throw tooMany(limits.socketsPerKey);
      return guest;
    } catch (error) {
      return error as Error;
    }
  };

  /** A browser cannot see the status of a handshake: it is let in to hear why not. */
  const refuse = (socket: WebSocket, error: Error): void => {
    refused.add(socket);
    socket.once("close", () => refused.delete(socket));
    socket.on("error", () => {}); // whatever else is wrong with it, it is closing
    const told = toldError(error);
    if (isUnexpected(error)) log.error({ err: error }, "failed");
    log.info({ route: streamPath, code: told.code }, "socket refused");
    socket.send(JSON.stringify(told));
    socket.close(closeCodeFor(error));
  };

  const open = (socket: WebSocket, { apiKey, admit }: Guest): void => {
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
      const guest = received(handshake);
      const isRefused = guest instanceof Error;
      if (isRefused && refused.size >= refusedAtMost) {
        connection.on("error", () => connection.destroy());
        return void connection.end(wholeAnswer(new Unavailable("Too many handshakes fail at once.", 1)));
      }
      server.handleUpgrade(handshake, connection, head, (socket) =>
        isRefused ? refuse(socket, guest) : open(socket, guest),
      );
    },
    drain: async (patienceMs) => {
      draining = true;
      const there = all();
      const ended = Promise.all(there.map((session) => session.ended));
      for (const session of there) session.drain();
      if (!(await endsWithin(ended, patienceMs))) {
        for (const session of there) session.breakOff();
        await endsWithin(ended, farewellMs);
      }
      for (const socket of refused) socket.terminate();
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

const optionsOf = ({ maxTextCharacters }: SocketLimits): ServerOptions & MoreOptions => ({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: messageBytes(maxTextCharacters),
  // Each costs more than its bytes while a message is gathered.
  maxFragments: 1_024,
  maxBufferedChunks: 1_024,
  closeTimeout: closingMs,
  handleProtocols: () => false,
});

const look = (session: Session): void => session.look();

const closeCodeFor = (error: Error): number => {
  if (error === goingDown) return closeCodes.restart;
  return error instanceof SocketRefusal ? closeCodes.later : closeCodes.refused;
};

const tooMany = (atMost: number): SocketRefusal =>
  new SocketRefusal(`The key has ${atMost} sockets open, the most there may be.`, "TOO_MANY_SOCKETS", {
    retryable: true,
  });

const endsWithin = async (end: Promise<unknown>, ms: number): Promise<boolean> => {
  const over = new AbortController();
  try {
    return await Promise.race([end.then(() => true), delay(ms, false, { signal: over.signal })]);
  } finally {
    over.abort();
  }
};
