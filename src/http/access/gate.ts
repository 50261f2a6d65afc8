import type { IncomingMessage } from "node:http";
import type { Authenticator, Principal } from "../../application/access/authentication.ts";
import type { ActingKey } from "../../application/access/principal.ts";
import { KeyIsSuspended } from "../../domain/errors.ts";
import type { Admission, RateLimiter } from "../../limits/rate-limiter.ts";
import type { ClientAddress } from "../kernel/client-address.ts";
import { credentialsOf } from "./credentials.ts";

/** An authenticated and rate-limited caller. */
export interface Caller {
  readonly principal: Principal;
  readonly admission: Admission;
}

/**
 * Authenticates a request and counts it against the limits. A refusal by the limits is returned in `admission`, so that its
 * response can carry the rate-limit headers too.
 * @throws {Unauthorized} @throws {RateLimited} for one more wrong secret after too many
 */
export type Gate = (request: IncomingMessage) => Caller;

export const createGate =
  ({
    authenticator,
    limiter,
    clientOf,
  }: {
    authenticator: Authenticator;
    limiter: RateLimiter;
    clientOf: ClientAddress;
  }): Gate =>
  (request) => {
    const client = clientOf(request);
    const principal = authenticator.authenticate(credentialsOf(request), client);
    return { principal, admission: limiter.admit(principal, client) };
  };

export interface AdmissionRules {
  /** Default: `refused`. */
  readonly suspended: "allowed" | "refused";
}

/** @throws {RateLimited} @throws {KeyIsSuspended} */
export const requireAdmission = (
  { principal, admission }: { readonly principal: ActingKey; readonly admission: Admission },
  { suspended }: AdmissionRules = { suspended: "refused" },
): void => {
  if (admission.refusal) throw admission.refusal;
  if (principal.suspension !== undefined && suspended === "refused") {
    const { cause, reason } = principal.suspension;
    throw new KeyIsSuspended(reason, cause);
  }
};

export const limitHeaders = ({ limit, remaining }: Admission): Record<string, string> => ({
  "X-RateLimit-Limit": String(limit),
  "X-RateLimit-Remaining": String(remaining),
});
