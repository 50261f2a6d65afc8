import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** A TCP server for what an HTTP server does not send: malformed bytes, resets, nothing. */
export interface RawServer {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** The number of connections accepted since the start. */
  connections(): number;
  /** Resolves when no connection is open. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * `response` is called for each request after its head and body (of one packet at most) have
 * arrived.
 */
export const serveRaw = async (response: (socket: Socket, request: string) => void): Promise<RawServer> => {
  const open = new Set<Socket>();
  let made = 0;
  const server = createServer((socket) => {
    made++;
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => response(socket, bytes.toString("latin1")));
    socket.on("close", () => {
      open.delete(socket);
      server.emit("left");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => made,
    idle: async () => {
      while (open.size > 0) await once(server, "left");
    },
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
};

/** A response whose body has a length, is chunked, or ends with the connection. */
export const headOf = (status: number, headers: Readonly<Record<string, string>> = {}): string =>
  `HTTP/1.1 ${status} Scripted\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
