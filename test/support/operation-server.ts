import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Context } from "koa";
import { type Logger, pino } from "pino";
import { createApp } from "../../src/http/app.ts";
import type { Operation } from "../../src/http/kernel/operation.ts";
import type { Admit, Route } from "../../src/http/kernel/request-state.ts";
import { type Admissions, createRouter, type OperationRouter } from "../../src/http/kernel/router.ts";
import type { HandleRequest } from "../../src/http/kernel/server.ts";

const accept: Admit = () => undefined;
const acceptAdmin: Admit = (_, state) => {
  state.actor = "admin";
};

/** Accepts every caller of every operation. */
export const anyCaller: Admissions = {
  "anyone, or auditor": accept,
  website: accept,
  "website, even suspended": accept,
  "website, if it has credentials": accept,
  "website even suspended, or auditor": acceptAdmin,
  operator: acceptAdmin,
  auditor: acceptAdmin,
};

export const routerOf = (operations: readonly Operation[]): OperationRouter =>
  createRouter(operations, anyCaller);

export type Respond = (ctx: Context) => unknown;

/** Leads every request to one handler. */
export const routerTo = (respond: Respond): OperationRouter => {
  const handle = async (ctx: Context): Promise<void> => void (await respond(ctx));
  const operation = { template: "/", admit: undefined, fromMemory: undefined, handle };
  const found: Route = {
    operation,
    params: {},
    allow: [],
    cors: "same origin",
    deprecation: {},
    api: undefined,
  };
  return { find: () => found };
};

export const testApp = (
  router: OperationRouter,
  {
    log = pino({ level: "silent" }),
    refused = () => undefined,
  }: { log?: Logger; refused?: (code: string) => void } = {},
): HandleRequest =>
  createApp({
    log,
    router,
    refused,
    apiCors: () => ({}),
    exposed: [],
    renewToken: () => undefined,
    credentialHeaders: [],
  });

export interface OperationServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves operations without authentication, on a free port of the loopback interface or on the
 * given Unix socket.
 */
export const serveOperations = async (
  operations: readonly Operation[],
  { log = pino({ level: "silent" }), socketPath }: { log?: Logger; socketPath?: string } = {},
): Promise<OperationServer> => {
  const handle = testApp(routerOf(operations), { log });
  const server = createServer((req, res) => handle(req, res));
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
