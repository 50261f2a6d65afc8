import type { IncomingMessage } from "node:http";
import { type LocalServer, serveLocally } from "../local-server.ts";

/** An answer of a service that a test makes up; `hang` never answers. */
export interface StubResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | object;
  readonly hang?: true;
}

export interface StubServer extends LocalServer {
  /** What was asked, in order: method and path with the query. */
  readonly requests: readonly string[];
}

/** A real server whose answers a test decides: for failures that the service does not have on demand. */
export const startStubServer = async (
  answerTo: (request: IncomingMessage, count: number) => StubResponse,
): Promise<StubServer> => {
  const requests: string[] = [];
  const server = await serveLocally((req, res) => {
    requests.push(`${req.method} ${req.url}`);
    const { status = 200, headers = {}, body = {}, hang } = answerTo(req, requests.length);
    if (hang) return;
    req.resume();
    res.writeHead(status, { "Content-Type": "application/json", ...headers });
    res.end(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
  return { ...server, requests };
};

/** The envelope of an error. */
export const errorResponse = (
  statusCode: number,
  code: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): StubResponse => ({
  status: statusCode,
  headers,
  body: { error: { message: `it was ${statusCode}`, statusCode, ...(code && { code }) } },
});

/** A configuration as far as speech needs it. */
export const configResponse: StubResponse = {
  body: { voice: { name: "UK English Female", pitch: 1, rate: 1, volume: 1 } },
};
