import type { IncomingMessage } from "node:http";
import type { Authenticator } from "../application/authentication.ts";
import type { Principal } from "../application/principal.ts";
import type { RateLimiter } from "../application/rate-limiter.ts";
import type { ClientAddress } from "../http/client-address.ts";
import { requireAdmission } from "../http/gate.ts";
import { handshakeCredentials } from "./handshake.ts";

/** A caller on a socket of its own. */
export interface Guest {
  readonly apiKey: string;
  /**
   * The caller as it stands now, let in for one more request. A token's time does not end a socket that it opened; the
   * secret or the origin that it was minted by does, when it is withdrawn.
   * @throws {Unauthorized} @throws {RateLimited} @throws {KeyIsSuspended}
   */
  admit(): Principal;
}

/**
 * What every handshake passes, and counts as one request.
 * @throws {Unauthorized} @throws {RateLimited} @throws {KeyIsSuspended}
 */
export type Admission = (handshake: IncomingMessage) => Guest;

export const createAdmission = ({
  authenticator,
  limiter,
  clientOf,
}: {
  authenticator: Authenticator;
  limiter: RateLimiter;
  clientOf: ClientAddress;
}): Admission => {
  const letIn = (principal: Principal, client: string): Principal => {
    requireAdmission({ principal, admission: limiter.admit(principal.apiKey, principal.plan, client) });
    return principal;
  };
  return (handshake) => {
    const client = clientOf(handshake);
    const principal = letIn(authenticator.authenticate(handshakeCredentials(handshake), client), client);
    return {
      apiKey: principal.apiKey,
      admit: () => letIn(authenticator.recall(principal), client),
    };
  };
};
