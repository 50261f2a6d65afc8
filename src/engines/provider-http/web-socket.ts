import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { type ClientOptions, createWebSocketStream, WebSocket } from "ws";
import { awaitHeaders, failureOf, type PaceOptions, paced, pacedBody, redirected } from "./connection.ts";

/** OpenAI's messages have less than 100 KB. */
const maxMessageBytes = 1024 * 1024;
/** The maximum number of messages that wait for their reader. */
const readAhead = 4;

/** The messages that are sent over a WebSocket. */
export interface SocketMessages {
  readonly messages: readonly string[];
  /** Sent on an abort, before the connection is closed. */
  readonly farewell: string;
}

interface SocketResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Buffer>;
}

interface SocketContext extends PaceOptions {
  readonly lookup: LookupFunction;
}

/**
 * Opens a WebSocket and sends its messages. The response has the headers of the handshake, and the
 * received messages as its body. If the server refuses the handshake, the result is the server's
 * response. A reader that stops early, or an abort, closes the connection.
 */
export const openWebSocket = (
  { url, headers }: { readonly url: URL; readonly headers: Readonly<Record<string, string>> },
  { messages, farewell }: SocketMessages,
  context: SocketContext,
): Promise<SocketResponse> =>
  new Promise((resolve, reject) => {
    const { lookup, signal } = context;
    const giveUp = (error: unknown): void => {
      reject(error);
      received.destroy(error instanceof Error ? error : new Error("aborted"));
    };
    const leave = (): void => {
      if (socket.readyState === WebSocket.OPEN) socket.send(farewell, () => undefined);
      giveUp(signal.reason);
    };
    const awaited = awaitHeaders(context, giveUp, leave);
    let handshake: IncomingHttpHeaders = {};
    const options: ClientOptions & { readonly lookup: LookupFunction } = {
      ...{ headers: { ...headers }, lookup, perMessageDeflate: false, maxPayload: maxMessageBytes },
      finishRequest: (request: ClientRequest) => {
        awaited.follow(request);
        request.end();
      },
    };
    const socket = new WebSocket(url, options);
    const received = createWebSocketStream(socket, {
      readableObjectMode: true,
      readableHighWaterMark: readAhead,
    });
    socket.once("close", awaited.closed);
    // This listener is never removed: an error of messages that are not being read must not be
    // uncaught.
    received.on("error", (error) => reject(failureOf(error, awaited.stage())));
    socket.once("upgrade", (response: IncomingMessage) => {
      handshake = response.headers;
    });
    socket.once("open", () => {
      const waitedMs = awaited.arrived();
      for (const message of messages) socket.send(message);
      resolve({ status: 101, headers: handshake, body: body(waitedMs) });
    });
    socket.once("unexpected-response", (_request, response) => {
      const waitedMs = awaited.arrived();
      response.on("error", () => undefined).once("close", awaited.closed);
      const { statusCode: status = 0, headers } = response;
      if (status < 300 || status >= 400)
        return resolve({ status, headers, body: pacedBody(response, context, waitedMs) });
      response.destroy();
      giveUp(redirected(status));
    });

    const body = async function* (waitedMs: number): AsyncGenerator<Buffer, void> {
      try {
        const chunks = paced<Buffer | string>(received, waitedMs, context);
        for await (const message of chunks) yield Buffer.from(message);
      } finally {
        received.destroy();
      }
    };
  });
