import { match } from "path-to-regexp";
import type { Auth, Cors } from "./auth.ts";
import { apiAt, type CompatibleApi } from "./compatible-api.ts";
import type { Operation } from "./operation.ts";
import type { Admit, Route } from "./request-state.ts";

/** Callers that the handlers of their operations authenticate, if at all. */
type SelfAuthenticated = "none" | "websocket" | "verification token";

/** How callers are admitted. Complete, so that no operation is left open. */
export type Admissions = Readonly<Record<Exclude<Auth, SelfAuthenticated>, Admit>>;

export interface OperationRouter {
  /** The most specific path that matches and has the method, or else the most specific one. */
  find(method: string, target: string): Route;
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
  admissions: Admissions,
  apis: readonly CompatibleApi[] = [],
): OperationRouter => {
  const templates = operations.flatMap((operation) =>
    templatesOf(operation.path).map((template) => ({ template, operation })),
  );
  const paths = [...Map.groupBy(templates, ({ template }) => template)]
    .map(([template, members]) =>
      createPath(
        template,
        members.map(({ operation }) => operation),
        { admissions, api: apiAt(apis, template) },
      ),
    )
    .toSorted((a, b) => a.parameters - b.parameters);
  const exact = new Map(paths.map(({ template, routes }) => [template.replaceAll("\\", ""), routes]));

  const search = (method: string, path: string): Route => {
    let first: Route | undefined;
    for (const { routes, withoutOperation, paramsIn } of paths) {
      const params = paramsIn(path);
      if (!params) continue;
      const route = routes.get(method);
      if (route) return { ...route, params };
      first ??= withoutOperation;
    }
    return first ?? unknownPath(path, apiAt(apis, path));
  };

  return {
    find: (method, target) => exact.get(withoutQuery(target))?.get(method) ?? search(method, pathOf(target)),
  };
};

interface Path {
  /** `path-to-regexp` reads it. */
  readonly template: string;
  readonly parameters: number;
  /** The routes by method, to which the parameters of a request are added. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Requests with other methods lead here. */
  readonly withoutOperation: Route;
  /** Returns undefined if the path does not match. */
  readonly paramsIn: (path: string) => Route["params"] | undefined;
}

const createPath = (
  template: string,
  operations: readonly Operation[],
  { admissions, api }: { readonly admissions: Admissions; readonly api: CompatibleApi | undefined },
): Path => {
  const admits: Readonly<Partial<Record<Auth, Admit>>> = admissions;
  const withoutOperation = operations.reduce<Route>(
    ({ allow }, { auth, cors = defaultCors[auth], deprecated = {}, ...operation }) => ({
      allow: [...allow, ...methodsOf(operation)],
      cors,
      deprecation: deprecated,
      api,
      operation: undefined,
      params: {},
    }),
    unknownPath(template, api),
  );
  const routes = operations.flatMap((operation) => {
    const { auth, handle, fromMemory } = operation;
    const route = { ...withoutOperation, operation: { template, admit: admits[auth], handle, fromMemory } };
    return methodsOf(operation).map((method) => [method, route] as const);
  });
  const matches = match<Record<string, string>>(template, { decode: decoded });
  return {
    template,
    parameters: template.split("/:").length - 1,
    routes: new Map(routes),
    withoutOperation,
    paramsIn: (path) => {
      const found = matches(path);
      return found ? found.params : undefined;
    },
  };
};

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

/** A parameter that is not percent-encoded UTF-8 is taken as it is. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const withoutQuery = (target: string): string => {
  const end = target.indexOf("?");
  return end === -1 ? target : target.slice(0, end);
};

/** The path of a request target in origin form or absolute form (RFC 9112, section 3.2). */
const pathOf = (target: string): string => /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(target)?.[1] || "/";
