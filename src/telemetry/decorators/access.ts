import type { Authenticator } from "../../application/access/authentication.ts";
import { Unauthorized } from "../../domain/errors.ts";
import type { Upgrade } from "../../http/kernel/server.ts";
import { RateLimited } from "../../limits/limits.ts";
import type { RateLimiter } from "../../limits/rate-limiter.ts";
import type { Counter, Instruments } from "../instruments.ts";

/** Starts each reason at zero, so that the first refusal is an increase. */
export const createRefusalCounter = (instruments: Pick<Instruments, "counter">): Counter => {
  const refusals = instruments.counter("refusals");
  for (const reason of ["unauthorized", "failures", "burst", "minute", "quota"]) refusals.add(0, reason);
  return refusals;
};

export const instrumentAuthenticator =
  (refusals: Counter) =>
  (authenticator: Authenticator): Authenticator => ({
    ...authenticator,
    authenticate: (credentials, client, at) => {
      try {
        return authenticator.authenticate(credentials, client, at);
      } catch (error) {
        if (error instanceof RateLimited && !error.more) refusals.add(1, error.kind);
        if (error instanceof Unauthorized) refusals.add(1, "unauthorized");
        throw error;
      }
    },
  });

export const instrumentLimiter =
  (refusals: Counter) =>
  (limiter: RateLimiter): RateLimiter => ({
    ...limiter,
    admit: (key, client) => {
      const admission = limiter.admit(key, client);
      if (admission.refusal && !admission.refusal.more) refusals.add(1, admission.refusal.kind);
      return admission;
    },
  });

export const instrumentUpgrade = (instruments: Instruments) => {
  let open = 0;
  instruments.observe("sockets", (observeValue) => observeValue(open));
  return (upgrade: Upgrade): Upgrade => ({
    ...upgrade,
    take: (request, connection, head) => {
      open++;
      connection.once("close", () => open--);
      upgrade.take(request, connection, head);
    },
  });
};
