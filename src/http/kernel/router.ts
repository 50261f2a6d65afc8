import Router from "@koa/router";
import type { Middleware } from "koa";
import { MethodNotAllowed } from "./errors/error-types.ts";
import type { Auth, Cors, Operation } from "./operation.ts";

/** Callers that the handlers of their operations authenticate, if at all. */
type SelfAuthenticated = "none" | "websocket" | "verification token";

/** Authenticates the callers of an operation before its handler runs. Complete, so that no operation is left open. */
export type Authentication = Readonly<Record<Exclude<Auth, SelfAuthenticated>, Middleware>>;

/** What the operations of one path have in common. */
interface PathItem {
  /** The value of `Allow`. */
  readonly allow: readonly string[];
  readonly cors: Cors;
  /** The headers that announce its deprecation. */
  readonly deprecation: Readonly<Record<string, string>>;
}

export interface OperationRouter {
  readonly routes: Middleware;
  /** The most specific path that matches; undefined if none does. */
  itemOf(path: string): PathItem | undefined;
}

const defaultCors: Readonly<Record<Auth, Cors>> = {
  none: "any origin",
  "verification token": "any origin, varying",
  website: "verified origins",
  "website, even suspended": "verified origins",
  "website, if it has credentials": "verified origins",
  websocket: "verified origins",
  "website even suspended, or auditor": "verified origins",
  operator: "same origin",
  auditor: "same origin",
};

/** Routes requests to operations; paths with fewer parameters take precedence. */
export const createRouter = (
  operations: readonly Operation[],
  authentication: Authentication,
): OperationRouter => {
  const router = new Router();
  const authenticators: Readonly<Partial<Record<Auth, Middleware>>> = authentication;
  const items = new Map<string, PathItem>();
  const parameters = ({ path }: Operation): number => path.split("{").length;
  for (const operation of operations.toSorted((a, b) => parameters(a) - parameters(b))) {
    const authenticate = authenticators[operation.auth];
    const middleware = [...(authenticate ? [authenticate] : []), operation.handle];
    for (const route of routesOf(operation.path)) {
      router.register(route, methodsOf(operation), middleware);
      items.set(route, itemWith(operation, items.get(route)));
    }
  }

  const itemOf = (path: string): PathItem | undefined => {
    const [layer] = router.match(path, "GET").path;
    return layer && items.get(String(layer.path));
  };

  const dispatch = router.routes() as Middleware;
  return {
    itemOf,
    routes: (ctx, next) =>
      dispatch(ctx, async () => {
        const item = itemOf(ctx.path);
        if (!item) return await next();
        if (ctx.method !== "OPTIONS") throw new MethodNotAllowed(item.allow);
        ctx.status = 200;
        ctx.body = "";
        ctx.set("Allow", item.allow.join(", "));
      }),
  };
};

const methodsOf = ({ method }: Operation): string[] =>
  method === "get" ? ["HEAD", "GET"] : [method.toUpperCase()];

const itemWith = (operation: Operation, item: PathItem | undefined): PathItem => ({
  allow: [...(item?.allow ?? []), ...methodsOf(operation)],
  cors: operation.cors ?? defaultCors[operation.auth],
  deprecation: operation.deprecated ?? {},
});

/** A colon is escaped, because it begins a parameter in a route; some clients send it percent-encoded. */
const routesOf = (template: string): string[] => {
  const route = (colon: string) => template.replaceAll(":", colon).replaceAll(/\{(\w+)\}/g, ":$1");
  return template.includes(":") ? [route("\\:"), route("%3A")] : [route("")];
};
