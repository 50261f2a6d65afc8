import type { IncomingMessage } from "node:http";
import { type LocalServer, serveLocally } from "../local-server.ts";

/** An answer of a service that a test makes up; `hang` never answers. */
export interface MadeUp {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | object;
  readonly hang?: true;
}

export interface AnsweringServer extends LocalServer {
  /** What was asked, in order: method and path with the query. */
  readonly asked: readonly string[];
}

/** A real server whose answers a test decides: for failures that the service does not have on demand. */
export const answering = async (
  answerTo: (request: IncomingMessage, count: number) => MadeUp,
): Promise<AnsweringServer> => {
  const asked: string[] = [];
  const server = await serveLocally((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    const { status = 200, headers = {}, body = {}, hang } = answerTo(req, asked.length);
    if (hang) return;
    req.resume();
    res.writeHead(status, { "Content-Type": "application/json", ...headers });
    res.end(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
  return { ...server, asked };
};

/** The envelope of an error. */
export const refused = (
  statusCode: number,
  code: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): MadeUp => ({
  status: statusCode,
  headers,
  body: { error: { message: `it was ${statusCode}`, statusCode, ...(code && { code }) } },
});

/** A configuration as far as speech needs it. */
export const config: MadeUp = {
  body: { voice: { name: "UK English Female", pitch: 1, rate: 1, volume: 1 } },
};
