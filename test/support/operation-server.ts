import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Middleware } from "koa";
import { type Logger, pino } from "pino";
import { compressText } from "../../src/http/caching/content-coding.ts";
import { createApp } from "../../src/http/kernel/app.ts";
import type { Operation } from "../../src/http/kernel/operation.ts";
import { type Authentication, createRouter } from "../../src/http/kernel/router.ts";

const accept: Middleware = (_, next) => next();
const acceptAdmin: Middleware = (ctx, next) => {
  ctx.state.actor = "admin";
  return next();
};

/** Accepts every caller of every operation. */
export const noAuthentication: Authentication = {
  website: accept,
  "website, even suspended": accept,
  "website, if it has credentials": accept,
  "website even suspended, or auditor": acceptAdmin,
  operator: acceptAdmin,
  auditor: acceptAdmin,
};

export interface OperationServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves operations without authentication; on a free port of the loopback interface unless a Unix socket is given. */
export const serveOperations = async (
  operations: readonly Operation[],
  { log = pino({ level: "silent" }), socketPath }: { log?: Logger; socketPath?: string } = {},
): Promise<OperationServer> => {
  const server = createServer(
    createApp({
      log,
      router: createRouter(operations, noAuthentication),
      middleware: [compressText()],
    }).callback(),
  );
  if (socketPath) server.listen(socketPath);
  else server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: socketPath ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};
