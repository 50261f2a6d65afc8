import { once } from "node:events";
import { type ClientOptions, WebSocket } from "ws";
import { type ServerMessage, serverMessage } from "../../src/http/websocket/messages.ts";
import { createAsyncQueue } from "./async-queue.ts";

/** A parsed frame of audio. */
export interface Frame {
  readonly type: "frame";
  readonly kind: number;
  readonly id: string;
  readonly index: number;
  readonly audio: Buffer;
}

/** A client whose test reads the messages one by one. */
export interface WebSocketClient {
  readonly webSocket: WebSocket;
  /** The headers of the handshake response. */
  readonly headers: Readonly<Record<string, string>>;
  send(message: object): void;
  /** The next message or frame. */
  next(): Promise<ServerMessage | Frame>;
  /**
   * The next message or frame.
   * @throws if it has another type
   */
  expect<T extends (ServerMessage | Frame)["type"]>(
    type: T,
  ): Promise<Extract<ServerMessage | Frame, { type: T }>>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Closes the socket and waits for its close event. */
  close(): Promise<void>;
}

export const openWebSocketClient = async (
  url: string,
  options: ClientOptions = {},
): Promise<WebSocketClient> => {
  const webSocket = new WebSocket(url, options);
  const received = createAsyncQueue<ServerMessage | Frame>();
  webSocket.on("message", (data, isBinary) => {
    received.push(isBinary ? frameOf(data as Buffer) : messageOf(String(data)));
  });
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  webSocket.once("close", (code, reason) => closed.resolve({ code, reason: String(reason) }));
  const [[{ headers }]] = await Promise.all([once(webSocket, "upgrade"), once(webSocket, "open")]);
  webSocket.on("error", () => {});
  return {
    webSocket,
    headers,
    send: (message) => webSocket.send(JSON.stringify(message)),
    next: received.next,
    expect: async (type) => {
      const message = await received.next();
      if (message.type !== type) throw new Error(`expected ${type}, received ${JSON.stringify(message)}`);
      return message as never;
    },
    closed: closed.promise,
    close: async () => {
      webSocket.close();
      await closed.promise;
    },
  };
};

/** Validates every message against the schema. */
const messageOf = (text: string): ServerMessage => serverMessage.parse(JSON.parse(text));

const frameOf = (data: Buffer): Frame => ({
  type: "frame",
  kind: data.readUInt8(0),
  id: data.subarray(1, 37).toString("latin1"),
  index: data.readUInt32BE(37),
  audio: data.subarray(41),
});
