import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "koa";
import type { Principal } from "../../application/access/principal.ts";
import type { RateLimitResult } from "../../limits/rate-limiter.ts";
import type { AdminAuth, Cors } from "./auth.ts";
import type { CompatibleApi } from "./compatible-api.ts";

/** The operation that a request leads to. The router finds it once per request. */
export interface Route {
  /** It is undefined for an unknown path, and for a method that the path does not have. */
  readonly operation: RoutedOperation | undefined;
  readonly params: Readonly<Record<string, string>>;
  /** The methods of the path, for `Allow`; empty for an unknown path. */
  readonly allow: readonly string[];
  readonly cors: Cors;
  /** The headers that announce the deprecation of the path. */
  readonly deprecation: Readonly<Record<string, string>>;
  /** The API that the path belongs to; undefined for the service's own. */
  readonly api: CompatibleApi | undefined;
}

interface RoutedOperation {
  /** The path with the names of its parameters, which logs and metrics show instead of the URL. */
  readonly template: string;
  /** It is undefined if the handler authenticates the caller, or nobody does. */
  readonly admit: Admit | undefined;
  readonly fromMemory: FromMemory | undefined;
  readonly handle: (ctx: Context) => Promise<void>;
}

/**
 * Authenticates the caller of an operation, and applies its limits.
 * @throws the error that refuses the request
 */
export type Admit = (req: IncomingMessage, state: RequestState) => void;

/**
 * Responds to an admitted caller if the audio is in memory, and returns false if it is not. Instead
 * of responding it may call `refuse`, even after it has returned true.
 */
export type FromMemory = (
  req: IncomingMessage,
  res: ServerResponse,
  state: RequestState,
  refuse: (refusal: unknown) => void,
) => boolean;

/** An authenticated and rate-limited caller. */
export interface Caller {
  readonly principal: Principal;
  readonly admission: RateLimitResult;
}

/** The person or program that presented a token of the admin API. */
export interface AdminSession {
  readonly role: AdminAuth;
  /** It is absent if the token has no name in ADMIN_TOKEN or AUDITOR_TOKEN. */
  readonly name?: string;
}

/**
 * The facts that the steps before an operation have found out about its request. It is Koa's
 * `ctx.state`.
 */
export interface RequestState {
  /** The id that the response, the log and the ledger share. */
  readonly requestId: string;
  readonly route: Route;
  /** It is set as soon as the caller is authenticated, even if the caller is then refused. */
  caller: Caller | undefined;
  /** The name of an operator or auditor in the log and in events. */
  actor?: string;
  adminSession?: AdminSession;
  /** The error that is sent. If it is set before the operation, the operation does not run. */
  refusal: unknown;
}

declare module "koa" {
  interface DefaultState extends RequestState {}
}

/** The caller of an operation that requires a website's credentials. */
export const callerIn = ({ caller }: RequestState): Caller => {
  if (!caller) throw new Error("The operation does not require credentials.");
  return caller;
};

/** The operator or auditor who calls an operation of the admin API. */
export const actorIn = ({ actor }: RequestState): string => {
  if (actor === undefined) throw new Error("The operation requires no admin token.");
  return actor;
};

/** The id of the authenticated website. */
export const websiteOf = (ctx: Context): string => callerIn(ctx.state).principal.websiteId;

/** Measures and traces requests. It receives routes, never URLs. */
export interface RequestObserver {
  begin(request: IncomingMessage, requestId: string): FollowedRequest;
}

interface FollowedRequest {
  /** Runs the work in the context of the request's trace, if it has one. */
  run<T>(work: () => T): T;
  /** Called once. `route`: the route template; undefined if no route matched. */
  end(route: string | undefined, status: number): void;
}
