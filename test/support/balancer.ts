import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type LocalServer, serveLocally } from "./local-server.ts";

export interface BalancerOptions {
  /** Changes the headers of a response. */
  readonly onHeaders?: (headers: IncomingHttpHeaders) => void;
  /** Awaited before a response is passed on. */
  readonly onResponse?: (forwarded: { method: string; path: string }, status: number) => Promise<void>;
}

/** Sends each request, on whatever connection, to the next of these services in turn. */
export const openBalancer = async (
  urls: readonly string[],
  { onHeaders = () => {}, onResponse = async () => {} }: BalancerOptions = {},
): Promise<LocalServer & AsyncDisposable> => {
  // One connection per request: a service may close a kept-alive connection just when it is reused.
  const agent = new Agent({ keepAlive: false });
  let turn = 0;
  const next = (): { host: string; port: number } => {
    const { hostname, port } = new URL(urls[turn++ % urls.length] ?? "");
    return { host: hostname, port: Number(port) };
  };

  const passOn = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { method = "GET", url: path = "/" } = req;
    const forwarded = request({
      ...next(),
      agent,
      method,
      path,
      headers: req.rawHeaders,
      setDefaultHeaders: false,
    });
    res.once("close", () => forwarded.destroy());
    const responded = new Promise<IncomingMessage>((resolve, reject) => {
      forwarded.once("response", resolve).on("error", reject);
    });
    req.pipe(forwarded); // not by pipeline, which would destroy the client's socket when the response comes before the request is complete
    const response = await responded;
    onHeaders(response.headers);
    await onResponse({ method, path }, response.statusCode ?? 0);
    res.writeHead(response.statusCode ?? 502, response.headers);
    res.flushHeaders();
    await pipeline(response, res);
    req.unpipe(forwarded).resume(); // the rest of the request is discarded
    forwarded.destroy();
  };

  const passThrough = (req: IncomingMessage, near: Duplex, head: Buffer): void => {
    const far = connect(next());
    far.write(`${req.method} ${req.url} HTTP/1.1\r\n${lines(req)}\r\n`);
    far.write(head);
    pipeline(near, far, near).catch(() => {});
  };

  const response: RequestListener = (req, res) => {
    passOn(req, res).catch(() => res.destroy()); // a cut response is cut for the client as well
  };
  const server = await serveLocally(response, passThrough, {
    maxHeaderSize: 256 * 1024,
    keepAliveTimeout: 0, // none: clients keep connections for as long as the services' Keep-Alive header says
  });
  const close = async (): Promise<void> => {
    await server.close();
    agent.destroy();
  };
  return { url: server.url, close, [Symbol.asyncDispose]: close };
};

const lines = ({ rawHeaders }: IncomingMessage): string => {
  let text = "";
  for (let at = 0; at < rawHeaders.length; at += 2) text += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  return text;
};
