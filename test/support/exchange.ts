import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

/** A request that is sent as given: neither path nor headers are normalised. */
export interface Sent {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface Received {
  readonly status: number;
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Content-Encoding is decoded. */
  readonly body: Buffer;
}

export type Exchange = (sent: Sent) => Promise<Received>;

/** Sends HTTP requests to the service over keep-alive connections. */
export const openExchange = (url: string): { exchange: Exchange; close(): void } => {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  return {
    exchange: async ({ method, path, headers = {}, body }) => {
      const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
      const sent = request({ hostname, port, agent, method, path, headers: { ...headers, ...length } });
      sent.end(body);
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      const chunks: Buffer[] = await response.toArray();
      const flat = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
      return {
        status: response.statusCode ?? 0,
        headers: Object.fromEntries(flat),
        body: decoded(Buffer.concat(chunks), response.headers["content-encoding"]),
      };
    },
    close: () => agent.destroy(),
  };
};

const decoded = (body: Buffer, coding: string | undefined): Buffer => {
  if (body.length === 0) return body; // the response to HEAD
  if (coding === "gzip") return gunzipSync(body);
  return coding === "br" ? brotliDecompressSync(body) : body;
};

/** Sends raw bytes and returns everything received until the service closes the connection. */
export const sendBytes = async (url: string, bytes: string): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.end(bytes);
  const chunks: Buffer[] = await socket.toArray();
  return Buffer.concat(chunks).toString();
};
