import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A client that knows of WebSockets only what it is told here: for frames that no library would send. */
export interface RawWebSocketClient {
  readonly socket: Socket;
  /** Sends one frame. */
  frame(frame: RawFrame): void;
  /** Sends a message as it should be. */
  send(message: object): void;
  /** Reads until the connection ends. Resolves with the close frame that came last; undefined if none did. */
  closeFrame(): Promise<CloseFrame | undefined>;
}

export interface CloseFrame {
  readonly code: number;
  readonly reason: string;
}

export interface RawFrame {
  /** FIN, RSV and opcode. */
  readonly first: number;
  readonly payload: Buffer;
  /** Default true, as clients must. */
  readonly masked?: boolean;
  /** What the frame says that its length is. Default: its length. */
  readonly length?: number;
}

/** Shakes hands; nothing is read after that until somebody reads. */
export const openRawWebSocketClient = async (
  url: string,
  headers: Record<string, string>,
): Promise<RawWebSocketClient> => {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) }).on("error", () => {});
  await once(socket, "connect");
  const handshake = {
    Host: "x",
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  };
  const lines = Object.entries(handshake).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const [head] = await once(socket, "data");
  socket.pause();
  if (!String(head).startsWith("HTTP/1.1 101")) throw new Error(`no handshake: ${head}`);
  const frame = (raw: RawFrame): void => void socket.write(bytesOf(raw));
  return {
    socket,
    frame,
    send: (message) => frame({ first: 0x81, payload: Buffer.from(JSON.stringify(message)) }),
    closeFrame: async () => {
      let tail = Buffer.alloc(0);
      socket.on("data", (chunk: Buffer) => {
        tail = Buffer.concat([tail, chunk]).subarray(-200);
      });
      socket.resume();
      if (!socket.destroyed) await once(socket, "close");
      return closeFrameAtEnd(tail);
    },
  };
};

/** A close frame's first byte, its length, its code and its reason are the last bytes of a connection. */
const closeFrameAtEnd = (bytes: Buffer): CloseFrame | undefined => {
  const at = bytes.findLastIndex(
    (byte, index) => byte === 0x88 && bytes.length === index + 2 + Number(bytes[index + 1]),
  );
  if (at < 0) return undefined;
  return { code: bytes.readUInt16BE(at + 2), reason: bytes.subarray(at + 4).toString() };
};

const bytesOf = ({ first, payload, masked = true, length = payload.length }: RawFrame): Buffer => {
  const mask = masked ? 0x80 : 0;
  const head =
    length < 126
      ? Buffer.from([first, mask | length])
      : Buffer.concat([Buffer.from([first, mask | 127]), bigEndian(length)]);
  // A mask of zeros changes nothing.
  return Buffer.concat([head, Buffer.alloc(masked ? 4 : 0), payload]);
};

const bigEndian = (length: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  return bytes;
};
