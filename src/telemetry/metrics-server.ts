import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Serves `GET /metrics` and nothing else, on a separate port: the service's port may be public.
 * Concurrent scrapes share one collection.
 * @throws when the address is in use or not allowed
 */
export const listenForMetrics = async (
  { host, port }: { readonly host: string; readonly port: number },
  read: () => Promise<string>,
) => {
  let reading: Promise<string> | undefined;
  const readOnce = (): Promise<string> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const respond: RequestListener = async ({ method, url }, res) => {
    if (url?.split("?")[0] !== "/metrics") return void res.writeHead(404).end();
    if (method !== "GET" && method !== "HEAD") return void res.writeHead(405, { Allow: "GET, HEAD" }).end();
    try {
      const text = await readOnce();
      res.writeHead(200, { "Content-Type": contentType }).end(text);
    } catch {
      res.writeHead(503).end();
    }
  };

  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 10_000 },
    (req, res) => void respond(req, res),
  );
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { address, family, port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${taken}/metrics`,
    close: async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
};

const contentType = "text/plain; version=0.0.4; charset=utf-8";
