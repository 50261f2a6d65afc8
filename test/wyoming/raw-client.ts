import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createAsyncQueue } from "../support/async-queue.ts";

export interface RawEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly payload: Buffer;
}

/** A client that writes any bytes, and reads when the test allows it. */
export interface RawClient {
  readonly socket: Socket;
  write(bytes: string | Buffer): void;
  /** Writes an event whose data follows its header. */
  send(type: string, data?: object, payload?: Buffer): void;
  /** The next event; undefined when the server has closed the connection. */
  next(): Promise<RawEvent | undefined>;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
}

export const eventBytes = (type: string, data: object = {}, payload: Buffer = Buffer.alloc(0)): Buffer => {
  const json = Buffer.from(JSON.stringify(data));
  const header = { type, version: "1.10.2", data_length: json.length, payload_length: payload.length };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), json, payload]);
};

export const openRawClient = async (
  url: string,
  options: { readonly allowHalfOpen?: boolean } = {},
): Promise<RawClient> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ...options });
  const events = createAsyncQueue<RawEvent | undefined>();
  const closed = new Promise<void>((resolve) => {
    socket.on("error", () => {});
    socket.on("close", () => {
      events.push(undefined);
      resolve();
    });
  });
  let received: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    for (let event = takeEvent(); event; event = takeEvent()) events.push(event);
  });
  const takeEvent = (): RawEvent | undefined => {
    const end = received.indexOf("\n");
    if (end === -1) return undefined;
    const { type, data_length, payload_length } = JSON.parse(received.toString("utf8", 0, end));
    const data = end + 1 + data_length;
    const whole = data + payload_length;
    if (received.length < whole) return undefined;
    const event = {
      type,
      data: JSON.parse(received.toString("utf8", end + 1, data)),
      payload: received.subarray(data, whole),
    };
    received = received.subarray(whole);
    return event;
  };
  await once(socket, "connect");
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    send: (type, data, payload) => void socket.write(eventBytes(type, data, payload)),
    next: events.next,
    closed,
  };
};
