import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

/** A request as it is sent: nothing is normalised, neither path nor headers. */
export interface Sent {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface Received {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Without its content coding. */
  readonly body: Buffer;
}

export type Exchange = (sent: Sent) => Promise<Received>;

/** Speaks HTTP with the service, over connections that are kept. */
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
  if (body.length === 0) return body; // the answer to HEAD
  if (coding === "gzip") return gunzipSync(body);
  return coding === "br" ? brotliDecompressSync(body) : body;
};

/** Sends bytes, no more, and answers with all that comes back until the service ends the connection. */
export const sendBytes = async (url: string, bytes: string): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.end(bytes);
  const chunks: Buffer[] = await socket.toArray();
  return Buffer.concat(chunks).toString();
};
