import type { Authenticator } from "../application/access/authentication.ts";
import type { Principal } from "../application/access/principal.ts";
import { type AdmissionRules, requireAdmission } from "../http/access/gate.ts";
import type { RateLimiter, RateLimitResult } from "../limits/rate-limiter.ts";

/** The key for which the server speaks. The protocol has no credentials of its own. */
export type Caller = ReturnType<typeof createCaller>;

/**
 * Failed attempts count against this name instead of the client's address: the client has presented
 * no secret.
 */
const thisServer = "wyoming";

export const createCaller = ({
  authenticator,
  limiter,
  key,
}: {
  authenticator: Authenticator;
  limiter: RateLimiter;
  key: { readonly apiKey: string; readonly apiSecret: string };
}) => {
  const authenticate = (): Principal => authenticator.authenticate({ by: "secret", ...key }, thisServer);
  return {
    /**
     * Counts a request of this client. Returns the key's current permissions.
     * @throws {Unauthorized}
     * @throws {RateLimited}
     * @throws {KeyIsSuspended}
     */
    admit: (client: string, rules?: AdmissionRules): Principal => {
      const principal = authenticate();
      requireAdmission({ principal, admission: limiter.admit(principal, client) }, rules);
      return principal;
    },
    /**
     * Returns the key's current permissions, and counts no request.
     * @throws {Unauthorized}
     * @throws {KeyIsSuspended}
     */
    current: (): Principal => {
      const principal = authenticate();
      requireAdmission({ principal, admission: notCounted });
      return principal;
    },
  };
};

const notCounted: RateLimitResult = { limit: 0, remaining: 0 };
