import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { handshakeHeaders } from "./handshake-request.ts";

/** A client that sends any bytes as frames: for frames that no library would send. */
export interface RawWebSocketClient {
  readonly socket: Socket;
  frame(frame: RawFrame): void;
  /** Sends a message in a valid text frame. */
  send(message: object): void;
  /** Reads until the connection ends. Resolves with the close frame at its end, if there is one. */
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
  /** The length in the header. Default: the payload's length. */
  readonly length?: number;
}

/** Connects and completes the handshake. Reads nothing after that until `socket` is resumed. */
export const openRawWebSocketClient = async (
  url: string,
  headers: Record<string, string>,
): Promise<RawWebSocketClient> => {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) }).on("error", () => {});
  await once(socket, "connect");
  const handshake = { Host: "x", ...handshakeHeaders, ...headers };
  const lines = Object.entries(handshake).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const [head] = await once(socket, "data");
  socket.pause();
  if (!String(head).startsWith("HTTP/1.1 101")) throw new Error(`handshake refused: ${head}`);
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

/** Finds a close frame at the end: its first byte, its length, its code and its reason. */
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
  // A mask of zeros leaves the payload unchanged.
  return Buffer.concat([head, Buffer.alloc(masked ? 4 : 0), payload]);
};

const bigEndian = (length: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  return bytes;
};
