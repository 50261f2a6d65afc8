import type { IncomingMessage } from "node:http";
import type { Authenticator, Principal } from "../../application/access/authentication.ts";
import type { Admission, RateLimiter } from "../../application/access/rate-limiter.ts";
import { KeyIsSuspended } from "../../domain/errors.ts";
import type { ClientAddress } from "../kernel/client-address.ts";
import { credentialsOf } from "./credentials.ts";

/** A request whose sender is known and counted. */
export interface Caller {
  readonly principal: Principal;
  readonly admission: Admission;
}

/**
 * What every request under /v2 passes: who it is, and whether the limits have room for it. A refusal by the limits is
 * told in `admission`, so that its answer can carry the same headers.
 * @throws {Unauthorized} @throws {RateLimited} for too many failures
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
    return { principal, admission: limiter.admit(principal.apiKey, principal.plan, client) };
  };

/** What a route lets pass. */
export interface AdmissionRules {
  /** Suspended keys; default `refused`. */
  readonly suspended: "allowed" | "refused";
}

/** @throws {RateLimited} what the limits refuse @throws {KeyIsSuspended} */
export const requireAdmission = (
  { principal, admission }: Caller,
  { suspended }: AdmissionRules = { suspended: "refused" },
): void => {
  if (admission.refusal) throw admission.refusal;
  if (principal.suspension !== undefined && suspended === "refused") {
    throw new KeyIsSuspended(`The key is suspended: ${principal.suspension}.`);
  }
};

export const limitHeaders = ({ limit, remaining }: Admission): Record<string, string> => ({
  "X-RateLimit-Limit": String(limit),
  "X-RateLimit-Remaining": String(remaining),
});
