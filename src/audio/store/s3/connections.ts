import http from "node:http";
import https from "node:https";
import { finished } from "node:stream";
import type { ClientOptions } from "minio";

/** The connections to one S3 server: kept alive, so many and no more, given up when they were idle for a while. */
export interface S3Connections {
  /** How the `minio` client sends what ends with this signal. */
  until(signal: AbortSignal): Pick<ClientOptions, "transport" | "transportAgent">;
  close(): void;
}

const atOnce = 32;
/** Shorter than the patience of the usual servers, so that few connections are reused in the moment of their end. */
const idleMs = 10_000;

export const openS3Connections = (tls: boolean): S3Connections => {
  const protocol = tls ? https : http;
  const agent = new protocol.Agent({ keepAlive: true, maxSockets: atOnce, timeout: idleMs });

  const send = (options: http.RequestOptions, answer: (response: http.IncomingMessage) => void) => {
    const request = protocol.request(options, (response) => {
      if (isLeftUnread(response.statusCode ?? 0)) finished(response.resume(), () => answer(response));
      else answer(response);
    });
    request.once("error", (error) => {
      if (request.reusedSocket) closedWhenReused.add(error);
    });
    return request;
  };

  return {
    until: (signal) => ({
      transport: {
        request: (options: http.RequestOptions, answer: () => void) => send({ ...options, signal }, answer),
      } as NonNullable<ClientOptions["transport"]>,
      transportAgent: agent,
    }),
    close: () => agent.destroy(),
  };
};

/**
 * The client (8.0.7, `retryHttpCodes`) throws at these without reading the answer: the connection would be occupied
 * for ever, and `atOnce` of them would be the end of it. All others it reads itself, and would wait for the end of one that
 * was read before.
 */
const isLeftUnread = (status: number): boolean => [408, 429, 499, 500, 502, 503, 504, 520].includes(status);

const closedWhenReused = new WeakSet<object>();

/** Runs it anew as long as it fails because a connection that was kept had been closed by the server meanwhile. */
export const retryStaleConnections = async <T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted || !(error instanceof Error) || !closedWhenReused.has(error)) throw error;
    }
  }
};
