import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";

/** A proxy to a loopback server that can disturb all its connections, including later ones. */
export interface TcpProxy {
  readonly port: number;
  /** Connections accepted since the start. */
  accepted(): number;
  /** Connections that are open now. */
  open(): number;
  /** Bytes forwarded since the start, in both directions together. */
  passed(): number;
  /**
   * Stops forwarding in both directions, but keeps the data and continues to accept connections.
   */
  freeze(): void;
  /** Forwards the held data and continues. */
  thaw(): void;
  /**
   * Limits each connection to this many bytes per second from now on; Infinity removes the limit.
   */
  slow(bytesPerSecond: number): void;
  /** Resets every connection; new ones are accepted. */
  cut(): void;
  /** Resets every connection once, after this many more bytes from the server. */
  cutAfter(bytes: number): void;
  /** Resets every connection and refuses new ones. */
  down(): Promise<void>;
  /** Accepts connections again, on the same port. */
  up(): Promise<void>;
  close(): Promise<void>;
}

const ticksPerSecond = 50;

export const openTcpProxy = async (target: { port: number; host?: string }): Promise<TcpProxy> => {
  const lines = new Set<{ cut: () => void }>();
  let accepted = 0;
  let passed = 0;
  let frozen: PromiseWithResolvers<void> | undefined;
  let bytesPerSecond = Number.POSITIVE_INFINITY;
  let bytesUntilCut = Number.POSITIVE_INFINITY;

  const cut = (): void => {
    for (const line of [...lines]) line.cut();
  };

  const paced = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; ) {
        while (frozen) await frozen.promise;
        const piece = chunk.subarray(at, at + Math.ceil(bytesPerSecond / ticksPerSecond));
        yield piece;
        at += piece.length;
        passed += piece.length;
        if (bytesPerSecond !== Number.POSITIVE_INFINITY) await delay(1000 / ticksPerSecond);
      }
    }
  };

  const cutInTime = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      const left = bytesUntilCut;
      bytesUntilCut -= chunk.length;
      if (chunk.length <= left) yield chunk;
      else {
        bytesUntilCut = Number.POSITIVE_INFINITY;
        yield chunk.subarray(0, left);
        cut();
      }
    }
  };

  const carry = async (near: Socket): Promise<void> => {
    accepted++;
    const far = connect({ host: "127.0.0.1", allowHalfOpen: true, ...target });
    const line = {
      cut: () => {
        near.resetAndDestroy();
        far.resetAndDestroy();
      },
    };
    lines.add(line);
    await Promise.all([pipeline(near, paced, far), pipeline(far, cutInTime, paced, near)]).catch(line.cut);
    lines.delete(line);
  };

  const listen = async (port: number): Promise<Server> => {
    const server = createServer({ allowHalfOpen: true }, (near) => void carry(near));
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return server;
  };

  let server: Server | undefined = await listen(0);
  const { port } = server.address() as AddressInfo;

  const thaw = (): void => {
    frozen?.resolve();
    frozen = undefined;
  };
  const down = async (): Promise<void> => {
    const closed = server && once(server, "close");
    server?.close();
    server = undefined;
    cut();
    await closed;
  };

  return {
    port,
    accepted: () => accepted,
    open: () => lines.size,
    passed: () => passed,
    freeze: () => {
      frozen ??= Promise.withResolvers();
    },
    thaw,
    slow: (rate) => {
      bytesPerSecond = rate;
    },
    cut,
    cutAfter: (bytes) => {
      bytesUntilCut = bytes;
    },
    down,
    up: async () => {
      server ??= await listen(port);
    },
    close: async () => {
      await down();
      thaw();
    },
  };
};
