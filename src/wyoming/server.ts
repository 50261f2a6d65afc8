import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { Logger } from "pino";
import { backgroundTime, type Time } from "../async/time.ts";
import { Connection, type ConnectionLimits, type ConnectionServices } from "./connection.ts";

export type WyomingServer = Awaited<ReturnType<typeof listenForWyoming>>;

/** An address, where port 0 stands for any free port, or a socket that is bound already. */
export type ListenAt = { readonly host: string; readonly port: number } | { readonly fd: number };

interface WyomingServerOptions {
  readonly services: ConnectionServices;
  /** The maximum length of a text, in code points. */
  readonly maxTextCharacters: number;
  readonly log: Logger;
  readonly time?: Time;
  readonly limits?: Partial<WyomingLimits>;
}

export interface WyomingLimits extends ConnectionLimits {
  /**
   * If a new connection exceeds this number, the one that has been idle for the longest time is
   * destroyed, or the new one if none is idle.
   */
  readonly connections: number;
}

/** A client takes memory for one text and one header at most: about 150 KB by default. */
const defaultLimits = {
  connections: 128,
  payloadBytes: 1024 * 1024,
  // An assistant may think for minutes in the middle of its response.
  utteranceIdleMs: 300_000,
  // Home Assistant opens a connection for each request.
  idleMs: 60_000,
  stallMs: 120_000,
  lingerMs: 5_000,
};

/**
 * In the longest text, each character is escaped in 12 bytes (a surrogate pair). Other members come
 * on top.
 */
const jsonBytes = (maxTextCharacters: number): number => maxTextCharacters * 12 + 16 * 1024;

/** Clients may take this long to receive the last event at shutdown. */
const abortTimeoutMs = 500;

/**
 * Listens for clients of the Wyoming protocol, which has neither credentials nor encryption.
 * @throws EADDRINUSE or EACCES
 */
export const listenForWyoming = async ({
  services,
  maxTextCharacters,
  log,
  time = backgroundTime,
  limits: given = {},
  ...at
}: WyomingServerOptions & ListenAt) => {
  const limits: WyomingLimits = {
    ...defaultLimits,
    textCharacters: maxTextCharacters,
    eventsPerMinute: maxTextCharacters + 1_000,
    jsonBytes: jsonBytes(maxTextCharacters),
    ...given,
  };
  const connections = new Set<Connection>();
  // Keep-alive detects clients whose machine is gone.
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }, (socket) => {
    const open = [...connections].filter((connection) => !connection.isDestroyed);
    if (open.length >= limits.connections && !destroyIdle(open)) {
      log.info({ limit: limits.connections }, "too many connections");
      socket.destroy();
      return;
    }
    const connection = new Connection(socket, { services, limits, log, time });
    connections.add(connection);
    void connection.ended.then(() => connections.delete(connection));
  });
  server.listen("fd" in at ? { fd: at.fd } : { host: at.host, port: at.port });
  await once(server, "listening");

  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    /** `tcp://HOST:PORT` */
    url: `tcp://${family === "IPv6" ? `[${address}]` : address}:${bound}`,
    /** The number of open connections. */
    connections: (): number => connections.size,
    /**
     * Accepts no more connections, and closes each one after the utterance in progress. After the
     * timeout the remaining utterances end with an error.
     */
    drain: async (timeoutMs: number): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const connection of connections) connection.drain();
      const cancels = [
        time.after(timeoutMs, () => {
          for (const connection of connections) connection.abort();
        }),
        time.after(timeoutMs + abortTimeoutMs, () => {
          for (const connection of connections) connection.destroy();
        }),
      ];
      await closed;
      await Promise.all([...connections].map(({ ended }) => ended));
      for (const cancel of cancels) cancel();
    },
  };
};

/**
 * Destroys the connection that has been idle for the longest time. Returns false if none is idle.
 */
const destroyIdle = (connections: readonly Connection[]): boolean => {
  const [oldest] = connections
    .filter(({ idleSince }) => idleSince !== undefined)
    .toSorted((a, b) => Number(a.idleSince) - Number(b.idleSince));
  oldest?.destroy();
  return oldest !== undefined;
};
