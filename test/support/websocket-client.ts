import { once } from "node:events";
import { type ClientOptions, WebSocket } from "ws";
import { type ServerMessage, serverMessage } from "../../src/http/websocket/messages.ts";

/** A frame of audio, taken apart. */
export interface Frame {
  readonly type: "frame";
  readonly kind: number;
  readonly id: string;
  readonly index: number;
  readonly audio: Buffer;
}

/** A client that reads what comes in order, at its own pace. */
export interface WebSocketClient {
  readonly webSocket: WebSocket;
  /** Those that the handshake was answered with. */
  readonly headers: Readonly<Record<string, string>>;
  send(message: object): void;
  /** What comes next. */
  next(): Promise<ServerMessage | Frame>;
  /** What comes next of that type; whatever else comes before it fails. */
  expect<T extends (ServerMessage | Frame)["type"]>(
    type: T,
  ): Promise<Extract<ServerMessage | Frame, { type: T }>>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Closes it, and waits until it is closed. */
  close(): Promise<void>;
}

export const openWebSocketClient = async (
  url: string,
  options: ClientOptions = {},
): Promise<WebSocketClient> => {
  const webSocket = new WebSocket(url, options);
  const come: (ServerMessage | Frame)[] = [];
  const asking: ((message: ServerMessage | Frame) => void)[] = [];
  webSocket.on("message", (data, isBinary) => {
    const message = isBinary ? frameOf(data as Buffer) : messageOf(String(data));
    const ask = asking.shift();
    if (ask) ask(message);
    else come.push(message);
  });
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  webSocket.once("close", (code, reason) => closed.resolve({ code, reason: String(reason) }));
  const [[{ headers }]] = await Promise.all([once(webSocket, "upgrade"), once(webSocket, "open")]);
  webSocket.on("error", () => {});
  const next = (): Promise<ServerMessage | Frame> =>
    new Promise((resolve) => {
      const message = come.shift();
      if (message) resolve(message);
      else asking.push(resolve);
    });
  return {
    webSocket,
    headers,
    send: (message) => webSocket.send(JSON.stringify(message)),
    next,
    expect: async (type) => {
      const message = await next();
      if (message.type !== type) throw new Error(`${type} was to come, not ${JSON.stringify(message)}`);
      return message as never;
    },
    closed: closed.promise,
    close: async () => {
      webSocket.close();
      await closed.promise;
    },
  };
};

/** Every message is as the description says. */
const messageOf = (text: string): ServerMessage => serverMessage.parse(JSON.parse(text));

const frameOf = (data: Buffer): Frame => ({
  type: "frame",
  kind: data.readUInt8(0),
  id: data.subarray(1, 37).toString("latin1"),
  index: data.readUInt32BE(37),
  audio: data.subarray(41),
});
