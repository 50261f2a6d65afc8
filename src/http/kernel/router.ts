import { createRequire } from "node:module";
import type { Auth, Cors } from "./auth.ts";
import { apiAt, type CompatibleApi } from "./compatible-api.ts";
import type { Operation } from "./operation.ts";
import type { Admit, Route } from "./request-state.ts";

/** This is the CommonJS form, because the other one imports `node:http` (see `node-http.ts`). */
const Router: typeof import("@koa/router").default = createRequire(import.meta.url)("@koa/router");

/**
 * The kinds of `auth` that the router leaves to the operation's handler, which authenticates the
 * caller if it needs to.
 */
type SelfAuthenticated = "none" | "websocket" | "verification token";

/**
 * The functions that admit callers. There is one for each kind of `auth`, so that no operation is
 * left open.
 */
export type Admissions = Readonly<Record<Exclude<Auth, SelfAuthenticated>, Admit>>;

export interface OperationRouter {
  /**
   * Finds the most specific path that matches and has the method, or else the most specific one
   * that matches.
   */
  find(method: string, target: string): Route;
}

const defaultCors: Readonly<Record<Auth, Cors>> = {
  none: "any origin",
  "anyone, or auditor": "any origin",
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
  admissions: Admissions,
  apis: readonly CompatibleApi[] = [],
): OperationRouter => {
  const router = new Router();
  const admits: Readonly<Partial<Record<Auth, Admit>>> = admissions;
  const templates = operations
    .flatMap((operation) => templatesOf(operation.path).map((template) => ({ template, operation })))
    .toSorted((a, b) => parametersOf(a.template) - parametersOf(b.template));
  /** For each path, the route of requests with a method that the path does not have. */
  const withoutOperation = new Map<string, Route>();
  /** For each path, the routes of its methods, without the parameters of a request. */
  const routes = new Map<string, Map<string, Route>>();
  for (const [template, members] of Map.groupBy(templates, (member) => member.template)) {
    const common = members.reduce(
      (route, { operation }) => withMethodsOf(operation, route),
      unknownPath(template, apiAt(apis, template)),
    );
    withoutOperation.set(template, common);
    routes.set(template, new Map());
    for (const { operation } of members) {
      const { auth, handle, fromMemory } = operation;
      const route = { ...common, operation: { template, admit: admits[auth], handle, fromMemory } };
      router.register(template, methodsOf(operation), handle);
      for (const method of methodsOf(operation)) routes.get(template)?.set(method, route);
    }
  }
  /** Paths without parameters need no search. */
  const exact = new Map(
    [...routes]
      .filter(([template]) => parametersOf(template) === 0)
      .map(([template, byMethod]) => [template.replaceAll("\\", ""), byMethod]),
  );

  const search = (method: string, path: string): Route => {
    const { path: layers } = router.match(path, method);
    const layer = layers.find(({ methods }) => methods.includes(method));
    const route = layer && routes.get(String(layer.path))?.get(method);
    if (route) return { ...route, params: layer.params(path, layer.captures(path)) };
    return withoutOperation.get(String(layers[0]?.path)) ?? unknownPath(path, apiAt(apis, path));
  };

  return {
    find: (method, target) => exact.get(withoutQuery(target))?.get(method) ?? search(method, pathOf(target)),
  };
};

const parametersOf = (template: string): number => template.split("/:").length - 1;

const withMethodsOf = (
  { auth, cors = defaultCors[auth], deprecated, ...operation }: Operation,
  route: Route,
): Route => ({
  ...route,
  allow: [...route.allow, ...methodsOf(operation)],
  cors,
  deprecation: deprecated ?? {},
});

/** Pages may read the 404 of unknown paths of the APIs. */
const unknownPath = (path: string, api: CompatibleApi | undefined): Route => ({
  allow: [],
  cors: api || /^\/v[12]\//i.test(path) ? "verified origins" : "same origin",
  deprecation: {},
  api,
  operation: undefined,
  params: {},
});

const methodsOf = ({ method }: Pick<Operation, "method">): string[] =>
  method === "get" ? ["HEAD", "GET"] : [method.toUpperCase()];

/** A colon is escaped, because it begins a parameter; some clients send it percent-encoded. */
const templatesOf = (path: string): string[] => {
  const template = (colon: string) => path.replaceAll(":", colon).replaceAll(/\{(\w+)\}/g, ":$1");
  return path.includes(":") ? [template("\\:"), template("%3A")] : [template("")];
};

const withoutQuery = (target: string): string => {
  const end = target.indexOf("?");
  return end === -1 ? target : target.slice(0, end);
};

/** The path of a request target in origin form or absolute form (RFC 9112, section 3.2). */
const pathOf = (target: string): string => /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(target)?.[1] || "/";
