import type { IncomingMessage } from "node:http";
import { type LocalServer, serveLocally } from "../local-server.ts";

/** A response of the stub; `hang` never responds. */
export interface StubResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | object;
  readonly hang?: true;
}

export interface StubServer extends LocalServer {
  /** The requests in order: method and path with the query. */
  readonly requests: readonly string[];
}

/**
 * An HTTP server whose responses the test defines: for failures that the service cannot produce on
 * demand.
 */
export const startStubServer = async (
  respond: (request: IncomingMessage, count: number) => StubResponse,
): Promise<StubServer> => {
  const requests: string[] = [];
  const server = await serveLocally((req, res) => {
    requests.push(`${req.method} ${req.url}`);
    const { status = 200, headers = {}, body = {}, hang } = respond(req, requests.length);
    if (hang) return;
    req.resume();
    res.writeHead(status, { "Content-Type": "application/json", ...headers });
    res.end(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
  return { ...server, requests };
};

/** A response with the service's error envelope. */
export const errorResponse = (
  statusCode: number,
  code: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): StubResponse => ({
  status: statusCode,
  headers,
  body: { error: { message: `status ${statusCode}`, statusCode, ...(code && { code }) } },
});

/** `GET /v2/config`, with the members that speech needs. */
export const configResponse: StubResponse = {
  body: { voice: { name: "UK English Female", pitch: 1, rate: 1, volume: 1 } },
};
