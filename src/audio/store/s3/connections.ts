import http from "node:http";
import https from "node:https";
import { finished } from "node:stream";
import type { ClientOptions } from "minio";

const maxSockets = 32;
/**
 * Shorter than the idle timeout of common servers, so that few connections are reused while they
 * are being closed.
 */
const idleMs = 10_000;

export type S3Connections = ReturnType<typeof openS3Connections>;

/** Opens a limited number of keep-alive connections to one S3 server. */
export const openS3Connections = (tls: boolean) => {
  const protocol = tls ? https : http;
  const agent = new protocol.Agent({ keepAlive: true, maxSockets, timeout: idleMs });

  const send = (options: http.RequestOptions, callback: (response: http.IncomingMessage) => void) => {
    const request = protocol.request(options, (response) => {
      if (isUnreadByClient(response.statusCode ?? 0)) finished(response.resume(), () => callback(response));
      else callback(response);
    });
    request.once("error", (error) => {
      if (request.reusedSocket) staleConnectionErrors.add(error);
    });
    return request;
  };

  return {
    /** Returns the transport of a `minio` client whose requests end with this signal. */
    until: (signal: AbortSignal): Pick<ClientOptions, "transport" | "transportAgent"> => ({
      transport: {
        request: (options: http.RequestOptions, callback: () => void) =>
          send({ ...options, signal }, callback),
      } as NonNullable<ClientOptions["transport"]>,
      transportAgent: agent,
    }),
    close: (): void => agent.destroy(),
  };
};

/**
 * The client (8.0.7, `retryHttpCodes`) throws at these statuses without reading the body. An unread
 * body would occupy the connection for ever. The client reads all other bodies itself.
 */
const isUnreadByClient = (status: number): boolean =>
  [408, 429, 499, 500, 502, 503, 504, 520].includes(status);

const staleConnectionErrors = new WeakSet<object>();

/** Repeats the call as long as it fails on a stale keep-alive connection. */
export const retryStaleConnections = async <T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted || !(error instanceof Error) || !staleConnectionErrors.has(error)) throw error;
    }
  }
};
