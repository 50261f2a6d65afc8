import { keys } from "../../projections/keys.ts";
import { rate } from "../../projections/rate.ts";
import { isVerifiedOrigin, verifiedOrigins } from "../../projections/verified-origins.ts";
import { websites } from "../../projections/websites.ts";
import { createAccessTokens } from "../application/access/access-tokens.ts";
import { createAuthenticator } from "../application/access/authentication.ts";
import { createFailedAttempts } from "../limits/failed-attempts.ts";
import { createRateLimiter } from "../limits/rate-limiter.ts";
import type { Core, Runtime } from "./core.ts";
import { deriveKeys, type MasterKeys } from "./master-key.ts";

export type Access = ReturnType<typeof composeAccess>;

/** Authentication and limits. */
export const composeAccess = (
  { settings, clock, telemetry, resources, onError }: Runtime,
  { instance, store, runner }: Core,
  masterKeys: MasterKeys,
) => {
  const [key, ...previousKeys] = deriveKeys(masterKeys, "access tokens");
  const accessTokens = createAccessTokens({ key, previousKeys, ttlSeconds: settings.tokenTtlSeconds, clock });
  const failedAttempts = createFailedAttempts({ clock });
  const authenticator = createAuthenticator({
    keys: runner.view(keys),
    websites: runner.view(websites),
    accessTokens,
    failedAttempts,
  });
  const limiter = createRateLimiter({
    store,
    view: runner.view(rate),
    instance,
    clock,
    burstWindowMs: settings.burstWindowMs,
    burstLimit: settings.burstLimit,
    onError,
  });
  resources.defer(limiter.close);
  // Grants no access. With the current view, a page could not read its own 503.
  const origins = runner.lastKnownView(verifiedOrigins);
  return {
    authenticator: telemetry.authenticator(authenticator),
    accessTokens,
    failedAttempts,
    limiter: telemetry.limiter(limiter),
    /** True if any website has verified the origin. */
    isVerified: (origin: string): boolean => isVerifiedOrigin(origins, origin),
  };
};
