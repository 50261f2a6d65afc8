import { createServer, type IncomingMessage, type RequestListener, type ServerOptions } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

export interface LocalServer {
  /** `http://127.0.0.1:PORT`, which is also the origin of its pages. */
  readonly url: string;
  close(): Promise<void>;
}

/** Handles an `upgrade` event. */
export type TakeUpgrade = (req: IncomingMessage, connection: Duplex, head: Buffer) => void;

/** Starts an HTTP server on a free port of the loopback. */
export const serveLocally = async (
  response: RequestListener,
  upgrade?: TakeUpgrade,
  options: ServerOptions = {},
): Promise<LocalServer> => {
  const server = createServer(options, response);
  server.on("checkExpectation", response); // Node would respond by itself
  if (upgrade) server.on("upgrade", upgrade);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
};

/** Serves one HTML page at `/`, and 404 elsewhere. */
export const servePage = (html: () => string): Promise<LocalServer> =>
  serveLocally((req, res) => {
    if (req.url !== "/") return void res.writeHead(404).end();
    res
      .writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" })
      .end(html());
  });
