import type { IncomingMessage } from "node:http";
import type { Middleware } from "koa";
import type { Authenticator } from "../../application/access/authentication.ts";
import type { ActingKey } from "../../application/access/principal.ts";
import { KeyIsSuspended } from "../../domain/errors.ts";
import type { RateLimiter, RateLimitResult } from "../../limits/rate-limiter.ts";
import type { ClientAddress } from "../kernel/client-address.ts";
import type { Admit, Caller } from "../kernel/request-state.ts";
import type { CredentialReader } from "./credentials.ts";

/**
 * Authenticates a request and counts it against the limits. A refusal by the limits is returned in
 * `admission`, so that its response can carry the rate-limit headers too.
 * @throws {Unauthorized}
 * @throws {RateLimited} after too many wrong secrets
 */
export type Gate = (request: IncomingMessage) => Caller;

export const createGate =
  ({
    authenticator,
    limiter,
    credentialReader,
    clientOf,
  }: {
    authenticator: Pick<Authenticator, "authenticate">;
    limiter: Pick<RateLimiter, "admit">;
    credentialReader: Pick<CredentialReader, "read">;
    clientOf: ClientAddress;
  }): Gate =>
  (request) => {
    const client = clientOf(request);
    const principal = authenticator.authenticate(credentialReader.read(request), client);
    return { principal, admission: limiter.admit(principal, client) };
  };

export interface AdmissionRules {
  /** Default: `refused`. */
  readonly suspended: "allowed" | "refused";
}

/**
 * @throws {RateLimited}
 * @throws {KeyIsSuspended}
 */
export const requireAdmission = (
  { principal, admission }: { readonly principal: ActingKey; readonly admission: RateLimitResult },
  { suspended }: AdmissionRules = { suspended: "refused" },
): void => {
  if (admission.refusal) throw admission.refusal;
  if (principal.suspension !== undefined && suspended === "refused") {
    const { cause, reason } = principal.suspension;
    throw new KeyIsSuspended(reason, cause);
  }
};

/** Authenticates a website, and applies its rate limits. */
export const admitWebsite =
  (gate: Gate, rules?: AdmissionRules): Admit =>
  (req, state) => {
    state.caller = gate(req);
    requireAdmission(state.caller, rules);
  };

/** Admits a request without credentials as anonymous, any other request like `admitWebsite`. */
export const admitIfCredentials = (gate: Gate, { finds }: Pick<CredentialReader, "finds">): Admit => {
  const admit = admitWebsite(gate);
  return (req, state) => {
    if (finds(req)) admit(req, state);
  };
};

/**
 * Adds the caller's limits to the response's headers.
 * @throws the error that refuses the caller
 */
export const requireAdmitted: Middleware = (ctx, next) => {
  const { caller, refusal } = ctx.state;
  if (caller) ctx.set(limitHeaders(caller.admission));
  if (refusal !== undefined) throw refusal;
  return next();
};

export const limitHeaders = ({ limit, remaining }: RateLimitResult): Record<string, string> => ({
  "X-RateLimit-Limit": String(limit),
  "X-RateLimit-Remaining": String(remaining),
});
